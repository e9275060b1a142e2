"""Trials of a mechanism as one file for others, and those of others, checked before they are shown.

A bundle is a zip archive of ``manifest.json`` and ``trials/EXPERIMENT.csv.gz``. It is data: nothing
in it is executed, and nothing that it says of privacy is taken from it. A merger's own audit judges
the mechanism where the same code is installed here; otherwise its rows are declared, not rerun.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.auditing import status
from matrixdp.auditing.status import DECLARED, REFUTED
from matrixdp.checks import InputError, as_input_error
from reproduction import discovery, files, imports, job_settings, plugins, trials

#: The number of this format.
FORMAT = 1

MANIFEST = "manifest.json"

#: Bytes of a manifest, of an archive, and of one file of trials without compression, at most.
LARGEST_MANIFEST, LARGEST, LARGEST_TRIALS = 2**20, 2**26, 2**28

#: Trials of every cell that are run anew where the code of a bundle is installed.
RERUN = 2

_REMEDY = "ask for another bundle, or remove it from bundles"

_TEXT = {"type": "string", "maxLength": 200}
_NAME = {"type": "string", "pattern": r"^[a-z][a-z0-9_]{0,49}$(?!\n)"}
_HASH = {"type": "string", "pattern": r"^[0-9a-f]{64}$(?!\n)"}


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*properties],
        "properties": properties,
    }


#: What a manifest may hold. ``distribution`` is the name and version of a package; it is empty for
#: a file of the study.
_SCHEMA = _closed(
    format={"const": FORMAT},
    mechanism=_NAME,
    distribution={
        "type": "string",
        "pattern": r"^([0-9A-Za-z_.-]{1,60} [0-9A-Za-z_.+!-]{1,40})?$(?!\n)",
    },
    code={"type": "array", "maxItems": 1000, "items": _TEXT},
    lock=_TEXT,
    software=_closed(python=_TEXT, numpy=_TEXT, scipy=_TEXT, processor=_TEXT),
    experiments={
        "type": "object",
        "minProperties": 1,
        "maxProperties": 100,
        "propertyNames": _NAME,
        "additionalProperties": _closed(
            settings={"type": "object"},
            digest=_TEXT,
            data=_closed(name=_NAME, status={"const": "original"}, content=_HASH, matrix=_HASH),
            trials=_HASH,
        ),
    },
)


@dataclass(frozen=True)
class Bundle:
    """A bundle whose manifest has the right form; its trials are not read yet."""

    path: str
    manifest: Mapping[str, Any]

    @property
    def mechanism(self) -> str:
        """The name of the mechanism where the trials were run."""
        return str(self.manifest["mechanism"])

    @property
    def origin(self) -> str:
        """Who declares the trials: a package with its version, or the name of the bundle."""
        name = re.sub(r"[^\w.-]+", "-", Path(self.path).stem)
        return str(self.manifest["distribution"]) or name

    @property
    def experiments(self) -> Mapping[str, Any]:
        """What the manifest says of each experiment."""
        return {**self.manifest["experiments"]}

    @property
    def installed(self) -> bool:
        """Whether a mechanism of this name is here, which may be of other code."""
        return self.mechanism in discovery.mechanisms()

    @property
    def same_code(self) -> bool:
        """Whether the code of the mechanism is here, so that it can be run and audited anew."""
        return self.installed and [*self.manifest["code"]] == code(self.mechanism)

    @property
    def row(self) -> str:
        """The name of the mechanism in rows: it says who ran it, and where nothing here did.

        So it is never that of a row of one's own, on which verdicts on the papers rest.
        """
        if self.same_code:
            return f"{self.mechanism} (run by {self.origin})"
        other = ", whose code is not the one here" if self.installed else ""
        return f"{self.mechanism} (declared by {self.origin}{other}{trials.NOT_RERUN}"


def code(mechanism: str) -> list[str]:
    """Return the files of an installed mechanism with their digests."""
    entry = discovery.mechanisms()[mechanism]
    if entry.distribution:
        return [*plugins.lines(mechanism)]
    return [*imports.lines(imports.module(entry.file))]


def member(experiment: str) -> str:
    """Return the name of the trials of an experiment in a bundle."""
    return f"trials/{experiment}.csv.gz"


def write(path: str | os.PathLike, manifest: Mapping[str, Any], rows: Mapping[str, bytes]) -> None:
    """Write a bundle; equal content gives equal bytes.

    Args:
        path: of the bundle.
        manifest: as in ``_SCHEMA``.
        rows: the files of trials by experiment.
    """
    content = json.dumps(manifest, indent=1, sort_keys=False, allow_nan=False).encode()
    with files.replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        parts = {MANIFEST: content, **{member(name): rows[name] for name in sorted(rows)}}
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)


def read(path: str | os.PathLike) -> Bundle:
    """Return a bundle after a look at its manifest alone, which is cheap.

    Raises:
        InputError: the file is missing or too large, is no archive of the right files, or its
            manifest has another form.
    """
    import jsonschema

    path = os.fspath(path)
    with as_input_error(f"{path} is no bundle ({{why}}); {_REMEDY}"):
        if os.path.getsize(path) > LARGEST:
            raise InputError(f"{path} has more than {LARGEST} bytes, no bundle; {_REMEDY}")
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = sorted(each.filename for each in members)
            for each in members:
                # Stored as they are: nothing grows when it is read.
                if each.compress_type != zipfile.ZIP_STORED or each.flag_bits & 1:
                    raise InputError(f"{path} is packed in another way than bundles; {_REMEDY}")
            if MANIFEST not in names or archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise InputError(f"{path} has no {MANIFEST} that can be read; {_REMEDY}")
            manifest = json.loads(archive.read(MANIFEST))
        if isinstance(manifest, dict) and manifest.get("format") != FORMAT:
            raise InputError(
                f"{path} is of format {checks.short(str(manifest.get('format')))}, not {FORMAT}; "
                "ask for a bundle that this version of the project has made"
            )
        for error in jsonschema.Draft7Validator(_SCHEMA).iter_errors(manifest):
            why = f"{MANIFEST} {error.json_path}: {checks.short(error.message)}"
            raise InputError(f"{path} is no bundle ({why}); {_REMEDY}")
        if names != sorted([MANIFEST, *map(member, manifest["experiments"])]):
            raise InputError(f"{path} has other files than its {MANIFEST} names; {_REMEDY}")
    if manifest["mechanism"] in trials.BASELINES:
        raise InputError(f"{path} has the baseline {manifest['mechanism']}; {_REMEDY}")
    return Bundle(path, manifest)


def planned(settings: Mapping[str, Any]) -> dict[str, dict[str, Bundle]]:
    """Return the bundles of a configuration by experiment and mechanism.

    Raises:
        InputError: a bundle cannot be read, has no experiment of this run, is of other settings,
            or has the name of a mechanism that this run or another bundle has.
    """
    found: dict[str, dict[str, Bundle]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for path in settings["bundles"]:
        bundle = read(path)
        name = bundle.mechanism
        if name in sources:
            raise InputError(
                f"{path} has the mechanism {name!r}, as {sources[name]} has; keep one of the two"
            )
        sources[name] = path
        shared = [run for run in bundle.experiments if run in settings["experiments"]]
        if not shared:
            checks.choice(settings["experiments"], **{f"{path}: experiment": [*bundle.experiments]})
        for run in shared:
            if name in job_settings.rows(settings, run):
                raise InputError(
                    f"{path} has the mechanism {name!r}, which experiments.{run} runs here; "
                    "remove one of the two"
                )
            check_settings(bundle, run, alike(bundle, run, settings))
            found[run][name] = bundle
    return dict(found)


def alike(bundle: Bundle, experiment: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that trials of a bundle must have in this run."""
    return job_settings.alike(settings, experiment, bundle.experiments[experiment]["settings"])


def check_settings(bundle: Bundle, experiment: str, own: Mapping[str, Any]) -> None:
    """Check that an experiment of a bundle is of these settings.

    Raises:
        InputError: the bundle lacks the experiment, or one of its settings is another.
    """
    checks.choice(bundle.experiments, **{f"{bundle.path}: experiment": experiment})
    job = bundle.experiments[experiment]["settings"]
    for key in sorted({*own, *job}):
        if own.get(key) != job.get(key):
            here, there = (
                checks.short(json.dumps(each[key])) if key in each else "missing"
                for each in (own, job)
            )
            raise InputError(
                f"{bundle.path}: {experiment} has {key} {there}, and here it is {here}; run with "
                f"the settings of the bundle, {_REMEDY}"
            )


def entry(job: Mapping[str, Any], provenance: Mapping[str, Any], rows: bytes) -> dict[str, Any]:
    """Return what a manifest says of an experiment: its settings, its data and its trials."""
    return {
        "settings": dict(job),
        "digest": job_settings.digest(job_settings.text(job)),
        "data": _data(provenance),
        "trials": hashlib.sha256(rows).hexdigest(),
    }


def _data(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": provenance["name"],
        "status": provenance["status"],
        "content": provenance["content_sha256"]["found"],
        "matrix": provenance["matrix_sha256"],
    }


def check_data(bundle: Bundle, experiment: str, provenance: Mapping[str, Any]) -> None:
    """Check that a bundle is on the prepared matrix of this run.

    Raises:
        InputError: it is on another one, or this one is not the original.
    """
    there = bundle.experiments[experiment]["data"]
    for key, here in _data(provenance).items():
        if there[key] != here:
            raise InputError(
                f"{bundle.path}: {experiment} is on data whose {key} is {there[key]}, and here it "
                f"is {here}; only results on the same data merge"
            )


#: Columns of an audit that say which release it is of.
_CASE = ("experiment", "configuration", "direction", "query", "adjacency", "epsilon", "delta")


def judged(
    bundle: Bundle, experiment: str, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the audit of a bundle's mechanism, from rows of the audit of the code here, if any.

    What is of other code is declared; what the code here is refuted for, stays refuted.
    """
    if bundle.same_code:
        return [{**row, "mechanism": bundle.row} for row in rows]
    verdict = f"{DECLARED}: by {bundle.origin}, not rerun"
    if not rows:
        return [{"experiment": experiment, "mechanism": bundle.row, "verdict": verdict}]
    # Numbers of the code here say nothing about the noise of the other one.
    return [
        {
            **{key: row[key] for key in _CASE if key in row},
            "mechanism": bundle.row,
            "verdict": row["verdict"]
            if status.of(row["verdict"]) == REFUTED
            else f"{verdict}; the code here, which is another: {row['verdict']}",
        }
        for row in rows
    ]


def merged(
    bundle: Bundle, experiment: str, job: Mapping[str, Any], metric: str, delta: float
) -> list[dict[str, str]]:
    """Return the trial rows of an experiment, all checked; reasons are not taken over.

    Args:
        bundle: the bundle.
        experiment: one of its experiments.
        job: the settings of its trials here (:func:`alike`).
        metric: the metric of the experiment.
        delta: the delta that mechanisms of the experiment may have at most.

    Raises:
        InputError: the file is damaged or another one than the manifest names, or a row is not one
            that a run with these settings has.
    """
    place = f"{bundle.path}: {member(experiment)}"
    content_of = bundle.experiments[experiment]
    with as_input_error(f"{place} cannot be read ({{why}}); {_REMEDY}"):
        with zipfile.ZipFile(bundle.path) as archive:
            content = archive.read(member(experiment))
        if hashlib.sha256(content).hexdigest() != content_of["trials"]:
            raise InputError(f"{place} is not the file that {MANIFEST} names; {_REMEDY}")
        text = gzip.GzipFile(fileobj=io.BytesIO(content)).read(LARGEST_TRIALS + 1)
        if len(text) > LARGEST_TRIALS:
            raise InputError(f"{place} has more than {LARGEST_TRIALS} bytes; {_REMEDY}")
        names, *cells = csv.reader(io.StringIO(text.decode(), newline=""), strict=True)
    if tuple(names) != trials.COLUMNS or {*map(len, cells)} != {len(names)}:
        raise InputError(f"{place} has other columns than trials; {_REMEDY}")
    rows = [dict(zip(names, row, strict=True)) for row in cells]
    words = {
        "experiment": {experiment},
        "dataset": {job["dataset"]},
        "data_status": {"original"},
        "mechanism": {bundle.mechanism},
        "direction": {"", *job.get("directions", ())},
        "reading": {job["reading"]},
        "epsilon": {"", *job["epsilons"]},
        "epsilon_exact": {"", "True", "False"},
        "metric": {metric},
        "settings": {job_settings.digest(job_settings.text(content_of["settings"]))},
    }
    values = [value for each in job.get("grids", {}).values() for value in each]
    for row in rows:
        for column, allowed in words.items():
            checks.choice(sorted(allowed), **{f"{place}: {column}": checks.short(row[column])})
        name, _, value = row["configuration"].partition("=")
        if row["configuration"] and not (re.fullmatch("[a-z_]{1,50}", name) and value in values):
            checks.choice(values, **{f"{place}: configuration": row["configuration"]})
        _check_numbers(place, row, delta)
        if row["note"]:
            row["note"] = f"{_reason(place, row)}: so {bundle.origin} says"
    _check_trials(place, rows, job)
    own = job_settings.digest(job_settings.text(job))
    return [{**row, "mechanism": bundle.row, "settings": own} for row in rows]


def _check_numbers(place: str, row: Mapping[str, str], delta: float) -> None:
    ran = row["trial"] != ""
    for column in ("delta", "epsilon_delivered", "mu", "noise_std"):
        if row[column]:
            checks.not_negative(**{f"{place}: {column}": _number(row[column])})
    if row["delta"] and _number(row["delta"]) > delta * (1 + 1e-9):
        raise InputError(f"{place}: delta is {row['delta']}, above {delta} here; {_REMEDY}")
    if ran and not row["delta"]:
        raise InputError(f"{place}: a trial has no delta; {_REMEDY}")
    if ran:
        checks.finite(**{f"{place}: value": _number(row["value"])})
    if bool(row["value"]) != ran or bool(row["phase"]) != ran or bool(row["note"]) == ran:
        raise InputError(f"{place}: a row is neither a trial nor a reason for none; {_REMEDY}")


def _number(text: str) -> float:
    """Return the number in a text of plain digits; NaN for any other text."""
    return (
        float(text)
        if re.fullmatch(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,3})?", text)
        else float("nan")
    )


def _reason(place: str, row: Mapping[str, str]) -> str:
    """Return how the note of a row without trials begins."""
    beginning = row["note"].partition(":")[0]
    return checks.choice(("skipped", "no guarantee"), **{f"{place}: note": beginning})


def _check_trials(place: str, rows: Sequence[Mapping[str, str]], job: Mapping[str, Any]) -> None:
    """Check that every cell has all trials of its phases once, and every epsilon is there."""
    cells: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cell = row["configuration"], row["direction"], row["epsilon"]
        cells[cell][row["phase"]].append(row["trial"])
    if [*cells] == [("", "", "")] and [*cells["", "", ""]] == [""]:
        return  # It cannot serve the task.
    plain = range(job["trials"])
    for (configuration, direction, epsilon), phases in cells.items():
        wanted = {
            "report": [[*plain]],
            "select": [[], [*plain]],
            trials.CONTROL: [[], [*plain]],
        }
        numbers = {phase: sorted(map(_whole, texts)) for phase, texts in phases.items()}
        # A row with the reason why there are no trials stands alone.
        wanted = {"": [[-1]]} if "" in phases else wanted
        if (
            not epsilon
            or {*numbers} - {*wanted}
            or any(numbers.get(phase, []) not in options for phase, options in wanted.items())
        ):
            name = " ".join(filter(None, [epsilon, configuration, direction]))
            raise InputError(
                f"{place}: the trials at epsilon {name} are not the {len(plain)} of this run's "
                f"settings; {_REMEDY}"
            )
    for start in {cell[:2] for cell in cells}:
        if missing := [each for each in job["epsilons"] if (*start, each) not in cells]:
            raise InputError(f"{place} has no trials at epsilon {missing[0]}; {_REMEDY}")


def _whole(text: str) -> int:
    """Return the number of a trial; -1 for a text that is none."""
    digits = text.removesuffix(".0")
    return int(digits) if re.fullmatch("[0-9]{1,7}", digits) else -1


#: Columns of a trial that its code must give again.
_RESULTS = ("value", "delta", "epsilon_delivered", "mu", "noise_std")


def check_rerun(
    bundle: Bundle, rows: Iterable[Mapping[str, str]], again: Mapping[str, Sequence[Any]]
) -> None:
    """Check that the first trials of a bundle are those that its code gives here.

    Args:
        bundle: the bundle.
        rows: its trial rows (:func:`merged`).
        again: columns of the rows of the first trials, run here.

    Raises:
        InputError: one differs.
    """
    keys = ("configuration", "direction", "epsilon", "trial")
    names = [*keys, *_RESULTS]
    every = (dict(zip(names, row, strict=True)) for row in zip(*map(again.get, names), strict=True))
    first = {
        tuple(_plain(row[key]) for key in keys): row
        for row, phase in zip(every, again["phase"], strict=True)
        if phase == "report"
    }
    there = {
        tuple(_plain(row[key]) for key in keys): row
        for row in rows
        if row["phase"] == "report" and _whole(row["trial"]) < RERUN
    }
    for cell in sorted({*first, *there}):
        here = first.get(cell, dict.fromkeys(_RESULTS))
        for column in _RESULTS:
            text = there.get(cell, {}).get(column, "")
            if not _close(here[column], text):
                raise InputError(
                    f"{bundle.path}: {column} of trial {cell[-1]} at epsilon {cell[2]} is "
                    f"{text or 'missing'}, and run here it is {here[column]}; {_REMEDY}"
                )


def _plain(value: Any) -> str:
    return "" if value is None else str(value).removesuffix(".0")


def _close(number: float | None, text: str) -> bool:
    if number is None or not text:
        return number is None and not text
    return abs(number - float(text)) <= 1e-6 * abs(number) + 1e-12
