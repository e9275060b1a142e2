"""The settings of a job: the part of a run's that it reads, so that no other reruns it.

A job gets them as JSON on its command line: rules choose and write them, verbs read them. Below,
``settings`` is a resolved configuration, and ``experiment`` names one of its experiments or
trainings (otherwise InputError).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import discovery
from reproduction.trials import BASELINES, DEFAULT, SAME_AS

#: The settings of a job, which JSON can hold.
JobSettings = dict[str, Any]

#: The papers' experiments on releases. All neural experiments are theirs, too.
OF_PAPERS = ("regression", "first_pc", "covariance", "section10_2")

#: Keys of a data set that affect no number.
_WORDS = ("title", "publisher", "licence", "doi", "citation", "public", "file")


#: Draws of a search for noise by trial of a shown row.
DRAWS_PER_TRIAL = 80


@dataclass(frozen=True)
class Settings:
    """The settings of one experiment in config.yaml.

    Attributes:
        experiment: name of the experiment.
        seed: root seed.
        trials: number of trials per row; trial numbers start at 0.
        trials_at: number of reported trials at claimed epsilons that have more, by epsilon as text;
            configurations that select trials do not choose have them only if they are ``fixed``.
        fixed: the configuration of the mechanism that no result chose, such as ``tau=0.75``.
        epsilons: claimed epsilons as text, e.g. ``"0.1"``; they also name the noise streams.
        delta: claimed delta; None stands for 1 / n, with n private records.
        directions: indices of favoured features by name of a noise direction; none: i.i.d. noise.
        grids: values of the mechanisms' parameters as text, by their key in config.yaml (see
            :class:`reproduction.mechanisms.base.MechanismEntry`).
        adjacency: neighbouring relation (see :mod:`matrixdp.privacy.sensitivity`).
        reading: name of a reading of the papers (see :mod:`reproduction.experiments.readings`).
        changes: parameters that the reading changes.
    """

    experiment: str
    seed: int
    trials: int
    epsilons: tuple[str, ...] = ()
    delta: float | None = None
    directions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    grids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adjacency: str = "replace"
    reading: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    trials_at: Mapping[str, int] = field(default_factory=dict)
    fixed: str = ""

    @classmethod
    def of(cls, job: Mapping[str, Any], **others: Any) -> Settings:
        """Return these settings from a job's, with the fields ``others``."""
        delta = job.get("delta", "1/n")
        fields = {
            **_chosen(job, "experiment", "seed", "trials", "trials_at", "fixed"),
            "epsilons": tuple(job.get("epsilons", ())),
            "delta": None if delta == "1/n" else float(delta),
            "grids": {key: tuple(values) for key, values in job.get("grids", {}).items()},
        }
        return cls(**fields | others)


def covers_papers(settings: Mapping[str, Any]) -> bool:
    """Return whether a run has an experiment of the papers, in the default reading."""
    of_papers = {*OF_PAPERS, *discovery.trainings()}
    return settings["reading"] == DEFAULT and not of_papers.isdisjoint(runs(settings))


def runs(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of all experiments on releases, then of all trainings, by name."""
    return {**settings["experiments"], **settings["training"]}


def run(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the settings of an experiment or a training."""
    entries = runs(settings)
    return entries[checks.choice(entries, experiment=experiment)]


def rows(settings: Mapping[str, Any], experiment: str) -> list[str]:
    """Return the mechanisms or schemes and the baselines of an experiment."""
    entry = run(settings, experiment)
    return list(entry["schemes"] if "schemes" in entry else entry["mechanisms"])


def same_as(settings: Mapping[str, Any], experiment: str) -> dict[str, str]:
    """Return, by row that is not run, the row of the same experiment that it equals."""
    names = {*rows(settings, experiment)}
    pairs = SAME_AS.get(run(settings, experiment).get("perturbation", ""), {})
    return {name: other for name, other in pairs.items() if {name, other} <= names}


def distinct_rows(settings: Mapping[str, Any], experiment: str) -> list[str]:
    """Return the rows of an experiment that are run."""
    names, copies = rows(settings, experiment), same_as(settings, experiment)
    return [name for name in names if name not in copies]


def data(entry: Mapping[str, Any]) -> JobSettings:
    """Return the entry of a data set in datasets.yaml without keys that affect no number."""
    return {key: value for key, value in entry.items() if key not in _WORDS}


def dataset(settings: Mapping[str, Any], experiment: str) -> str:
    """Return the name of an experiment's data set."""
    return str(run(settings, experiment)["dataset"])


def trials(settings: Mapping[str, Any], experiment: str, mechanism: str) -> JobSettings:
    """Return the settings that may affect a row's trials; no budget affects baselines."""
    entry, job = run(settings, experiment), _rows(settings, experiment, mechanism)
    if (count := entry.get("trials_at_table_epsilon", 0)) <= entry["trials"]:
        return job
    if mechanism in BASELINES:
        return job | {"trials": count}
    every = mechanism in entry["claims_at_every_epsilon"]
    epsilons = entry["epsilons"] if every else [settings["table_epsilon"]]
    fixed = public_configurations(settings, middle=True)
    job |= {"fixed": fixed[mechanism]} if mechanism in fixed else {}
    return job | {"trials_at": dict.fromkeys(epsilons, count)}


def _rows(settings: Mapping[str, Any], experiment: str, *mechanisms: str) -> JobSettings:
    """Return the settings of mechanisms' rows without further trials."""
    entry = run(settings, experiment)
    job: JobSettings = {"experiment": experiment}
    job |= _chosen(entry, "task", "dataset", "features", "target", "train", "trials")
    job |= _chosen(settings, "seed", "adjacency", "reading")
    grids: dict[str, list[str]] = {}
    entries = [*filter(None, map(discovery.mechanisms().get, mechanisms))]
    # Another package counts by its version.
    if packages := sorted({entry.distribution for entry in entries} - {""}):
        job["packages"] = packages
    for mechanism in entries:
        job |= _chosen(entry, "epsilons") | _chosen(settings, "delta")
        job |= _chosen(entry, "directions") if mechanism.directed else {}
        grids |= {key: list(settings.get(key, ())) for key in [mechanism.values] if key}
    return job | ({"grids": grids} if grids else {})


def training(settings: Mapping[str, Any], experiment: str, scheme: str) -> JobSettings:
    """Return the settings that may affect the rows of a scheme; no budget affects baselines."""
    entry = run(settings, experiment)
    job: JobSettings = {"experiment": experiment, "seed": settings["seed"]}
    job |= _chosen(entry, "dataset", "trials", "lot", "epochs", "clip", "records")
    private = scheme in discovery.schemes(experiment)
    return job | (_chosen(entry, "epsilons", "delta", "batch") if private else {})


def extraction(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return the settings that may affect the features of a neural experiment."""
    entry = run(settings, experiment)
    if "extractor_epochs" not in entry:
        raise InputError(f"{experiment} trains on its data as they are; it has no extractor")
    job = {"experiment": experiment, "seed": settings["seed"]}
    return job | _chosen(entry, "dataset", "extractor_epochs", "width", "records")


def public_configurations(settings: Mapping[str, Any], *, middle: bool = False) -> dict[str, str]:
    """Return each mechanism's configuration with the untuned value, such as ``tau=0.75``.

    Its value is that of the key ``<axis>_untuned``. A grid without this key has none, or with
    ``middle`` the value in its middle.
    """
    entries = {name: e for name, e in discovery.mechanisms().items() if e.parameter}
    grids = {name: settings[entry.values] for name, entry in entries.items() if middle}
    values = {name: grid[(len(grid) - 1) // 2] for name, grid in grids.items()}
    values |= {n: settings[e.untuned] for n, e in entries.items() if e.untuned in settings}
    return {n: f"{e.parameter}={values[n]}" for n, e in entries.items() if n in values}


def readings(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return the settings of all readings of an experiment: one epsilon, direction and share.

    They have a fifth of the trials that the tables' rows have, where these are more: the margins
    of claims are narrower than 100 trials can tell.
    """
    names, part = rows(settings, experiment), run(settings, experiment)
    count = max(part["trials"], part.get("trials_at_table_epsilon", 0) // 5)
    job = _at_table_epsilon(settings, experiment, *names)
    job |= {"mechanisms": names, "trials": count}
    # The untuned value, so that readings do not choose it again.
    for mechanism in map(discovery.mechanisms().get, names):
        if mechanism and mechanism.untuned in settings:
            job["grids"][mechanism.values] = [settings[mechanism.untuned]]
    directions = list(job.get("directions", {}).items())[:1]
    return job | ({"directions": dict(directions)} if "directions" in job else {})


def audit(settings: Mapping[str, Any], experiment: str, mechanism: str) -> JobSettings:
    """Return the settings of the audit of a mechanism in an experiment, which runs no trials."""
    job = _at_table_epsilon(settings, experiment, mechanism)
    job |= _chosen(run(settings, experiment), "audit_pairs", "audit_numbers")
    return job | {"trials": 1, "audit_runs": settings["audit_runs"]}


def attack(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return the settings of the attacks on the sensitivities of an experiment's queries."""
    return _at_table_epsilon(settings, experiment) | {"trials": 1}


def implied_noise(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return the settings of the search for the noise that printed errors would need.

    Two digits of it take many more trials than a mean does: 400,000 in a run with 5,000.
    """
    entry = run(settings, experiment)
    count = max(entry["trials"], entry.get("trials_at_table_epsilon", 0))
    job = _at_table_epsilon(settings, experiment, *rows(settings, experiment))
    return job | {"trials": DRAWS_PER_TRIAL * count}


def summary(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return what a summary needs beside the trials of an experiment.

    These are the digests of the settings of its trial files in order, the publicly fixed
    configuration of each mechanism, and by row that is not run the one that it equals.
    """
    part = training if experiment in settings["training"] else trials
    names = rows(settings, experiment)
    releases = experiment in settings["experiments"]
    configurations = public_configurations(settings, middle=True) if releases else {}
    return {
        "experiment": experiment,
        "digests": [
            digest(dump_settings(part(settings, experiment, row)))
            for row in distinct_rows(settings, experiment)
        ],
        "fixed": {name: configurations[name] for name in names if name in configurations},
        "same_as": same_as(settings, experiment),
    }


def rows_frame(settings: Mapping[str, Any], experiment: str) -> JobSettings:
    """Return what the frame of an experiment's rows needs beside what is known of them."""
    job = {"experiment": experiment, "table_epsilon": settings["table_epsilon"]}
    return job | {"same_as": same_as(settings, experiment)}


def dump_settings(job: Mapping[str, Any]) -> str:
    """Return a job's settings as the JSON of a command line."""
    return json.dumps(job)


def digest(text: str) -> str:
    """Return a short hash of a job's settings, which trial files carry."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def load_settings(text: str) -> dict[str, Any]:
    """Return the settings in a text of a command line.

    Raises:
        InputError: the text is not a JSON object with an experiment.
    """
    try:
        job = json.loads(text)
    except ValueError:
        job = None
    if isinstance(job, dict) and "experiment" in job:
        return job
    raise InputError(
        f"settings is {checks.short(text)}, no JSON object with an experiment; "
        "`snakemake --printshellcmds` prints the commands of a run"
    )


def _at_table_epsilon(
    settings: Mapping[str, Any], experiment: str, *mechanisms: str
) -> JobSettings:
    job = _rows({**settings, "reading": DEFAULT}, experiment, *mechanisms)
    return {**job, "epsilons": [settings["table_epsilon"]]}


def _chosen(source: Mapping[str, Any], *keys: str) -> JobSettings:
    return {key: source[key] for key in keys if key in source}
