"""The part of a run's settings that a job reads, so that unrelated settings do not rerun it.

A job gets its part as JSON on its command line (see :mod:`reproduction.jobs`). ``settings`` is a
resolved configuration, and ``experiment`` names one of its experiments or trainings (otherwise
InputError).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import discovery
from reproduction.trials import DEFAULT

Part = dict[str, Any]

#: Settings that affect only the further trials for claims.
_CLAIMS = ("claim_trials", "table_epsilon")

#: Keys of a data set that affect no number.
_WORDS = ("title", "publisher", "licence", "doi", "citation")


def rows(settings: Mapping[str, Any], experiment: str) -> list[str]:
    """Return the mechanisms or schemes and the baselines of an experiment."""
    if experiment in settings["training"]:
        return list(settings["training"][experiment]["schemes"])
    return list(release(settings, experiment)["mechanisms"])


def release(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the settings of an experiment on releases; InputError if it is a training."""
    releases = settings["experiments"]
    return releases[checks.choice([*releases, *settings["training"]], experiment=experiment)]


def data(entry: Mapping[str, Any]) -> Part:
    """Return the entry of a data set in datasets.yaml without keys that affect no number."""
    return {key: value for key, value in entry.items() if key not in _WORDS}


def dataset(settings: Mapping[str, Any], experiment: str) -> str:
    """Return the name of an experiment's data set."""
    return {**settings["experiments"], **settings["training"]}[experiment]["dataset"]


def trials(settings: Mapping[str, Any], experiment: str, *mechanisms: str) -> Part:
    """Return the settings that may affect mechanisms' rows; no budget affects baselines."""
    entry = release(settings, experiment)
    part: Part = {"experiment": experiment}
    part |= _chosen(entry, "task", "dataset", "features", "target", "train", "trials")
    part |= _chosen(settings, "seed", "adjacency", "reading")
    # Claims are judged only under the default reading.
    if settings["reading"] == DEFAULT and entry.get("trials_for_claims"):
        part["claim_trials"] = entry["trials_for_claims"]
    grids: dict[str, list[str]] = {}
    for name in mechanisms:
        if mechanism := discovery.mechanisms().get(name):
            part |= _chosen(entry, "epsilons") | _chosen(settings, "delta")
            part |= _chosen(settings, "table_epsilon") if "claim_trials" in part else {}
            part |= _chosen(entry, "directions") if mechanism.directed else {}
            grids |= {key: grid(settings, key) for key in [mechanism.values] if key}
    return part | ({"grids": grids} if grids else {})


def grid(settings: Mapping[str, Any], key: str) -> list[str]:
    """Return the values of a grid: those of a list, or of a mapping's ``grid``."""
    values = settings[key]
    return list(values["grid"] if isinstance(values, Mapping) else values)


def public(settings: Mapping[str, Any], key: str) -> str:
    """Return the value of a grid that is fixed in public; empty without one."""
    values = settings[key]
    return str(values["public"]) if isinstance(values, Mapping) else ""


def training(settings: Mapping[str, Any], experiment: str, scheme: str) -> Part:
    """Return the settings that may affect the rows of a scheme; no budget affects baselines."""
    specification = settings["training"][experiment]
    part: Part = {"experiment": experiment, "seed": settings["seed"]}
    part |= _chosen(specification, "dataset", "trials", "lot", "epochs", "clip", "records")
    if scheme in discovery.schemes(experiment):
        part |= _chosen(specification, "epsilons", "delta", "batch")
    return part


def extraction(settings: Mapping[str, Any], experiment: str) -> Part:
    """Return the settings that may affect the features of a neural experiment."""
    specification = settings["training"].get(experiment, {})
    if "extractor_epochs" not in specification:
        raise InputError(f"{experiment} trains on its data as they are; it has no extractor")
    part = {"experiment": experiment, "seed": settings["seed"]}
    return part | _chosen(specification, "dataset", "extractor_epochs", "records")


def sweep(settings: Mapping[str, Any], experiment: str) -> Part:
    """Return the part of an experiment under all readings: one epsilon, direction and share."""
    names = rows(settings, experiment)
    part = _at_table_epsilon(settings, experiment, *names) | {"mechanisms": names}
    # A public value is fixed, so that readings do not choose it again.
    for key in part.get("grids", {}):
        if value := public(settings, key):
            part["grids"][key] = [value]
    directions = list(part.get("directions", {}).items())[:1]
    return part | ({"directions": dict(directions)} if "directions" in part else {})


def audit(settings: Mapping[str, Any], experiment: str, mechanism: str) -> Part:
    """Return the part of the audit of a mechanism in an experiment, which runs no trials."""
    part = _at_table_epsilon(settings, experiment, mechanism)
    part |= _chosen(release(settings, experiment), "audit_pairs", "audit_numbers")
    return part | {"trials": 1, "audit_runs": settings["audit_runs"]}


def attack(settings: Mapping[str, Any], experiment: str) -> Part:
    """Return the part of the attacks on the sensitivities of an experiment's queries."""
    return _at_table_epsilon(settings, experiment) | {"trials": 1}


def text(part: Mapping[str, Any]) -> str:
    """Return a part as the JSON of a command line."""
    return json.dumps(part)


def _at_table_epsilon(settings: Mapping[str, Any], experiment: str, *mechanisms: str) -> Part:
    part = trials({**settings, "reading": DEFAULT}, experiment, *mechanisms)
    part = {key: value for key, value in part.items() if key not in _CLAIMS}
    return {**part, "epsilons": [settings["table_epsilon"]]}


def _chosen(source: Mapping[str, Any], *keys: str) -> Part:
    return {key: source[key] for key in keys if key in source}
