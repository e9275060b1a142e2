"""Verbs that train: the neural experiments, and the feature extractor that one of them needs."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.cli.options import (
    Verb,
    comma_separated,
    delta_number,
    seed_number,
    tokens,
    write_rows,
)

if TYPE_CHECKING:
    from matrixdp.experiments.training.examples import Data


def add(verb: Verb) -> None:
    """Add this file's verbs to the command line."""
    train = verb("train", _train, "train under one scheme, all epsilons and trials")
    train.add_argument("experiment")
    train.add_argument("scheme", help="a scheme, or nonprivate or random")
    train.add_argument("--data", help="folder that the verb data has written")
    train.add_argument("--features", help="file that the verb extract has written, in its place")
    train.add_argument("--seed", type=seed_number, default=0)
    train.add_argument("--trials", type=int, default=5)
    train.add_argument("--epsilons", type=comma_separated, default=["1"], help="comma-separated")
    train.add_argument("--delta", default="0.00001")
    train.add_argument("--lot", type=int, help="records that a step expects or takes")
    train.add_argument("--epochs", type=int, help="passes over the training records")
    train.add_argument("--clip", type=float, help="joint l2 norm of one record's gradient")
    train.add_argument("--records", type=int, help="at most so many training records")
    train.add_argument("--out", required=True, help="tidy rows, gzipped CSV")

    extract = verb("extract", _extract, "train a feature extractor and write its features")
    extract.add_argument("experiment")
    extract.add_argument("--data", required=True, help="folder that the verb data has written")
    extract.add_argument("--seed", type=seed_number, default=0)
    extract.add_argument("--epochs", type=int, default=3)
    extract.add_argument("--records", type=int, help="at most so many records of either part")
    extract.add_argument("--out", required=True, help="features, labels and settings, npz")


def _train(options: argparse.Namespace) -> None:
    from matrixdp.experiments import training
    from matrixdp.experiments.training import base

    known = training.registry()
    chosen = known[checks.choice(known, experiment=options.experiment)]
    words = {name: getattr(options, name) for name in ("lot", "epochs", "clip", "records")}
    given = {name: value for name, value in words.items() if value is not None}
    if "clip" in given and chosen.kind == "features":
        raise InputError(f"clip is {options.clip}, but {options.experiment} clips nothing; omit it")
    settings = base.Settings(
        experiment=options.experiment,
        seed=options.seed,
        trials=options.trials,
        epsilons=tokens(options.epsilons, "epsilons"),
        delta=delta_number(options.delta),
    )
    rows = base.run(
        dataclasses.replace(chosen, **given),
        options.scheme,
        _examples(options, chosen.kind),
        settings,
    )
    write_rows(rows, options.out)


def _examples(options: argparse.Namespace, kind: str) -> Data:
    """Return the data set, or the features made of it, that the options name."""
    from matrixdp.experiments.training import extractor

    needed, other = ("features", "data") if kind == "features" else ("data", "features")
    if getattr(options, other):
        raise InputError(
            f"{options.experiment} trains on --{needed}, not on --{other} {getattr(options, other)}"
        )
    place = getattr(options, needed)
    if not place:
        verb = "extract" if kind == "features" else "data"
        raise InputError(f"{options.experiment} lacks --{needed}; make it by `matrixdp {verb}`")
    if kind == "gradients":
        return _learning_set(place, options.experiment)
    return _of(extractor.load(place), options.experiment, place)


def _learning_set(folder: str, experiment: str) -> Data:
    from matrixdp import data
    from matrixdp.experiments.training.examples import Data

    found = data.load_arrays(folder)
    return _of(Data(found.name, found.status, found.arrays), experiment, folder)


def _of(data: Data, experiment: str, place: str) -> Data:
    if data.name != experiment:
        raise InputError(f"{place} holds {data.name} data; {experiment} needs its own")
    return data


def _extract(options: argparse.Namespace) -> None:
    import numpy as np

    from matrixdp import files
    from matrixdp.experiments import training
    from matrixdp.experiments.training import extractor

    known = training.registry()
    if known[checks.choice(known, experiment=options.experiment)].kind != "features":
        raise InputError(
            f"{options.experiment} trains on its data as they are; it has no extractor"
        )
    found = extractor.run(
        _learning_set(options.data, options.experiment),
        seed=options.seed,
        epochs=options.epochs,
        records=options.records,
    )
    print(f"accuracy of the extractor on the test records: {found['accuracy']:.4f}")
    with files.replacing(options.out) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **found)
