"""What results depend on: parts of the settings, and digests of them, of the code and of the data.

``settings`` are a resolved configuration with the reading, ``experiment`` one of its experiments or
trainings (else InputError), and rows are of mechanisms, schemes or references.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matrixdp import config, sources, stamps
from matrixdp.checks import InputError
from matrixdp.experiments import readings
from matrixdp.places import place

#: What changes no result: where originals are looked for, and how long the audit may run.
_ASIDE = ("data", "audit_runs", "matrix")

#: What only the trials that claims are judged by depend on.
_CLAIMS = ("claim_trials", "table_epsilon")


def part(settings: Mapping[str, Any], experiment: str, *mechanisms: str) -> dict[str, Any]:
    """Return exactly what rows may depend on; no budget changes reference rows."""
    cut: dict[str, Any] = {"experiment": experiment}
    if experiment in settings["training"]:
        own = settings["training"][experiment]
        cut["seed"] = settings["seed"]
        cut |= _chosen(own, "dataset", "trials", "lot", "epochs", "clip", "records")
        if sources.schemes(experiment).keys() & mechanisms:
            cut |= _chosen(own, "epsilons", "delta", "batch")
        return cut
    own = config.release(settings, experiment)
    cut |= _chosen(own, "task", "dataset", "features", "target", "train", "trials")
    cut |= _chosen(settings, "seed", "adjacency", "reading")
    # Claims are judged in the default reading alone.
    if settings["reading"] == readings.DEFAULT:
        cut |= {"claim_trials": own["trials_for_claims"]} if own.get("trials_for_claims") else {}
    axes = {
        "direction": _chosen(own, "directions"),
        "tau": {"taus": settings["taus"]["grid"]},
        "rows": {"rows": settings["sketch_sizes"]},
        "radius": {"radii": settings["squared_radius_fractions"]},
    }
    for name in mechanisms:
        if name in sources.mechanisms():
            cut |= _chosen(own, "epsilons") | _chosen(settings, "delta")
            cut |= _chosen(settings, "table_epsilon") if "claim_trials" in cut else {}
            for axis in sources.mechanisms()[name].axes:
                cut |= axes[axis]
    return cut


def made_from(
    settings: Mapping[str, Any], experiment: str, *names: str, code: bool = True
) -> dict[str, str]:
    """Return digests of the settings and, which takes longer, the ``code`` of rows, or of all."""
    names = names or tuple(config.rows(settings, experiment))
    found = {"settings": sources.stamp({one: part(settings, experiment, one) for one in names})}
    verb = "cli/train.py" if experiment in settings["training"] else "cli/trials.py"
    return found | ({"code": code_of(settings, verb, experiment, *names)} if code else {})


def code_of(
    settings: Mapping[str, Any], verb: str | tuple[str, str], experiment: str, *names: str
) -> str:
    """Return a digest of what a verb runs on rows (default: all) of an experiment."""
    if experiment in settings["training"]:
        entry, known = sources.trainings()[experiment], sources.schemes(experiment)
    else:
        task = config.release(settings, experiment)["task"]
        entry, known = sources.tasks()[task], sources.mechanisms()
    chosen = (known[name] for name in names or config.rows(settings, experiment) if name in known)
    return sources.digest(verb, entry, *chosen)


def choices(reading: str = "") -> dict[str, Any]:
    """Return what a reading sets where it is not the default one; without one, what all can set.

    These are no words that explain readings, which no number rests on.
    """
    knobs = readings.knobs()
    if reading:
        chosen = readings.find(reading).choices
        return {knobs[name].acts_on: knobs[name].values[value] for name, value in chosen.items()}
    return {
        name: [knob.acts_on, dict(knob.values), knob.cross, knob.spares, knob.not_private]
        for name, knob in knobs.items()
    }


def parts(
    settings: Mapping[str, Any], experiment: str, names: Sequence[str], data: str | os.PathLike
) -> dict[str, dict[str, str]]:
    """Return digests of all that rows rest on, by name and epsilon, which references have empty.

    ``data`` is the folder of the prepared data, or the file of features.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    shared = [stamps.of_data(data), choices(settings["reading"])]
    for name, own in found.items():
        cut = part(settings, experiment, name)
        rest = [*shared, made_from(settings, experiment, name)["code"]]
        at_table = cut.pop("table_epsilon", "")
        for epsilon in cut.pop("epsilons", [""]):
            # At the tables' epsilon there may be trials for claims too.
            own[epsilon] = sources.stamp([*rest, epsilon, cut, epsilon in ("", at_table)])
    return found


def check_summaries(settings: Mapping[str, Any], results: str | os.PathLike) -> None:
    """Check that the summaries of a run are of its configuration.

    Raises:
        InputError: one is of other settings, or not as it was written.
    """
    default = {**settings, "reading": readings.DEFAULT}
    for experiment in (*settings["experiments"], *settings["training"]):
        made = made_from(default, experiment, code=False)
        for kind in ("summary", "comparisons"):
            stamps.check(place(f"{kind}/{experiment}", os.fspath(results)), **made)


def extraction(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return what the features of a neural experiment may depend on."""
    own = settings["training"].get(experiment, {})
    if "extractor_epochs" not in own:
        raise InputError(f"{experiment} trains on its data as they are; it has no extractor")
    found = {"experiment": experiment, "seed": settings["seed"]}
    return found | _chosen(own, "dataset", "extractor_epochs", "records")


def swept(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the part of an experiment under all readings: one epsilon, direction and share."""
    found = _at_table_epsilon(settings, experiment)
    # A share that is fixed in public is no choice to be made anew under every reading.
    found |= {"taus": [settings["taus"]["public"]]} if "taus" in found else {}
    directions = list(found.get("directions", {}).items())[:1]
    return found | ({"directions": dict(directions)} if "directions" in found else {})


def audited(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the part of an experiment's audit, which has no trials of its own."""
    return {**_at_table_epsilon(settings, experiment), "trials": 1}


def _at_table_epsilon(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    default = {**settings, "reading": readings.DEFAULT}
    found = part(default, experiment, *config.rows(settings, experiment))
    found |= {"epsilons": [settings["table_epsilon"]]} if "epsilons" in found else {}
    return {key: value for key, value in found.items() if key not in _CLAIMS}


def shown(settings: Mapping[str, Any], experiments: Collection[str]) -> dict[str, Any]:
    """Return what tables, figures and pages on these experiments (empty: on all) may show."""
    cut = {key: value for key, value in settings.items() if key not in _ASIDE}
    for kind in ("experiments", "training"):
        cut[kind] = {
            name: {key: value for key, value in own.items() if key != "per_job"}
            for name, own in settings[kind].items()
            if not experiments or name in experiments
        }
    return cut


def _chosen(source: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: source[key] for key in keys if key in source}
