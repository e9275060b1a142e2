import os
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from packages import PATH
from rowframes import frame

from matrixdp.checks import InputError
from reproduction.data import LearningSet
from reproduction.experiments import training
from reproduction.experiments.training import base, gradients
from reproduction.experiments.training.features import READINGS
from reproduction.job_settings import Settings
from reproduction.trials import COLUMNS

ADULT = replace(training.find_training("adult"), lot=50, epochs=10)
CORA = replace(training.find_training("cora"), lot=10, epochs=10)
IMDB = replace(training.find_training("imdb"), lot=50, epochs=5)
SETTINGS = Settings(experiment="adult", seed=7, trials=2, epsilons=("0.5", "2"), delta=1e-5)


def run(*arguments):
    return frame(base.run(*arguments))


@pytest.fixture(scope="module")
def adult(table):
    return LearningSet("adult", table, "simulated")


@pytest.mark.parametrize(
    ("experiment", "scheme"),
    [("adult", "mvg_binary"), ("cora", "imgm"), ("imdb", "imgm"), ("imdb", "mvg_binary")],
)
def test_every_experiment_returns_tidy_rows(experiment, scheme, adult, graph, features):
    data = {"adult": adult, "cora": LearningSet("cora", graph, "simulated"), "imdb": features}[
        experiment
    ]
    how = {"adult": ADULT, "cora": CORA, "imdb": IMDB}[experiment]
    rows = run(how, scheme, data, replace(SETTINGS, experiment=experiment))
    assert tuple(rows.columns) == COLUMNS
    assert set(rows["reading"]) == {"default", *(READINGS if experiment == "imdb" else [])}
    rows = rows[rows["reading"] == "default"]
    assert rows[["epsilon", "trial"]].values.tolist() == [
        ["0.5", 0],
        ["0.5", 1],
        ["2", 0],
        ["2", 1],
    ]
    assert rows["value"].between(0, 1).all()
    assert set(rows["data_status"]) == {"simulated"}
    assert (rows["noise_std"] > 0).all()
    # One mu describes one release, not many sampled steps.
    assert rows["mu"].notna().all() == (experiment == "imdb")


def test_references_have_no_epsilon_and_private_training_loses_accuracy(adult):
    free = run(ADULT, "nonprivate", adult, SETTINGS)
    assert free[["epsilon", "noise_std"]].isna().all(axis=None)
    assert (free["value"] > 0.75).all()
    guess = run(ADULT, "random", adult, replace(SETTINGS, trials=200))
    assert guess["value"].mean() == pytest.approx(0.5, abs=0.02)
    noisy = run(ADULT, "imgm", adult, replace(SETTINGS, epsilons=("0.01",)))
    assert noisy["value"].mean() < free["value"].mean()


@pytest.mark.parametrize("experiment", ["adult", "cora", "imdb"])
def test_accuracy_is_that_on_the_test_records(experiment, table, graph, features):
    """Of test labels that are turned round, one after the other, exactly one is ever right."""
    arrays = {"adult": table, "cora": graph, "imdb": features.arrays}[experiment]
    how = {"adult": ADULT, "cora": CORA, "imdb": IMDB}[experiment]
    name, rows = ("labels", graph["test"]) if experiment == "cora" else ("test_labels", ...)
    count = arrays[name].max() + 1
    total = 0.0
    for shift in range(count):
        labels = arrays[name].copy()
        labels[rows] = (labels[rows] + shift) % count
        data = LearningSet(experiment, {**arrays, name: labels}, "simulated")
        total += run(how, "nonprivate", data, replace(SETTINGS, experiment=experiment))["value"]
    np.testing.assert_allclose(total, 1)


@pytest.mark.parametrize("experiment", ["adult", "imdb"])
def test_a_run_does_not_depend_on_the_others_of_its_job(experiment, adult, features):
    how, data = (ADULT, adult) if experiment == "adult" else (IMDB, features)
    settings = replace(SETTINGS, experiment=experiment)
    rows = run(how, "pld_gaussian" if experiment == "adult" else "imgm", data, settings)
    for epsilon in settings.epsilons:
        one = replace(settings, trials=1, epsilons=(epsilon,))
        alone = run(how, rows["mechanism"][0], data, one)
        keys = ["epsilon", "reading", "trial"]
        pd.testing.assert_frame_equal(
            alone.set_index(keys), rows.set_index(keys).loc[alone.set_index(keys).index]
        )


def unmoved(model, initial, *others):
    """Return the initial parameters under every key, as if no step were taken."""
    return {name: jnp.stack([value] * len(others[-1])) for name, value in initial.items()}


def test_schemes_share_examples_weights_and_noise_and_trials_and_epsilons_no_noise(
    adult, monkeypatch
):
    seen = []

    def spy(model, initial, lots, sizes, clip, expected, deviations, weights, keys):
        seen.extend((np.asarray(initial["hidden"]).tobytes(), lots.tobytes(), key) for key in keys)
        return unmoved(model, initial, keys)

    monkeypatch.setattr(gradients, "descend_each", spy)
    for scheme in ("nonprivate", "imgm", "analytic_gaussian"):
        run(ADULT, scheme, adult, SETTINGS)
    assert len(seen) == 10
    assert len({one[:2] for one in seen}) == SETTINGS.trials
    keys = [tuple(jax.random.key_data(one[2]).tolist()) for one in seen]
    free, imgm, gaussian = keys[:2], keys[2:6], keys[6:]
    assert imgm == gaussian
    assert len({*free, *imgm}) == 6


def test_readings_differ_in_bias_and_in_the_scale_of_test_features():
    from reproduction.experiments.training.features import RATE, classify

    rng = np.random.default_rng(1)
    private = rng.uniform(-1, 1, (40, 3)).astype(np.float32)
    labels = (private[:, 0] > 0.3).astype(np.int32)
    lots = rng.integers(40, size=(60, 8)).astype(np.int32)
    normals = rng.standard_normal(private.shape, np.float32)
    found = classify(private, labels, lots, np.zeros(3, np.float32), normals)
    assert set(found) == set(READINGS)
    for reading, (weights, bias) in found.items():
        expected = np.zeros((4, 2))
        inputs = np.column_stack([private, np.full(40, reading != "default")])
        for lot in lots:
            outputs = inputs[lot] @ expected
            shares = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
            expected -= RATE * inputs[lot].T @ (shares - np.eye(2)[labels[lot]]) / 8
        np.testing.assert_allclose(np.vstack([weights, bias]), expected, atol=1e-5)
    # The same noise for all; only what is not divided keeps the scale of training.
    noisy = classify(private, labels, lots, np.full(3, 7, np.float32), normals)
    (divided, bias), (undivided, same) = (noisy[reading] for reading in READINGS[1:])
    np.testing.assert_allclose(divided * np.sqrt(50), undivided, rtol=1e-5)
    np.testing.assert_allclose(bias, same)


@pytest.mark.parametrize("loudest", [1 + 1e-6, -1.1])
def test_features_beyond_their_public_bounds_are_refused(features, loudest):
    loud = features.arrays["train_features"].copy()
    loud[5, 2] = loudest
    loud = replace(features, arrays={**features.arrays, "train_features": loud})
    with pytest.raises(InputError, match=r"training feature is 1(\.1)?; .* in \[-1, 1\]"):
        run(IMDB, "imgm", loud, replace(SETTINGS, experiment="imdb"))


@pytest.mark.nightly
def test_records_limit_the_training_records_alone(adult):
    limited = replace(ADULT, records=80, lot=80)
    assert run(limited, "nonprivate", adult, SETTINGS)["value"].notna().all()
    with pytest.raises(InputError, match="lot is 81"):
        run(replace(limited, lot=81), "nonprivate", adult, SETTINGS)


def test_the_noise_of_batches_adds_up_on_their_lot(adult, monkeypatch):
    monkeypatch.setattr(base, "load", lambda *_, **__: adult)
    monkeypatch.setattr(gradients, "descend_each", unmoved)
    part = {"experiment": "adult", "dataset": "adult", "seed": 7, "trials": 1}
    part |= {"lot": 50, "epochs": 1, "epsilons": ["2"], "delta": 1e-5}

    def noise(**given):
        return frame(base.trials(part | given, "gaussian_code", ""))["noise_std"].item()

    assert noise(batch=25) == pytest.approx(2**0.5 * noise(batch=None), rel=1e-12)
    assert noise(batch=None) == pytest.approx(noise(), rel=1e-12)


@pytest.mark.parametrize("experiment", ["adult", "cora"])
def test_the_largest_class_is_that_of_the_training_records_and_is_scored_on_the_test(
    experiment, table, graph
):
    """Two thirds of the training records have class 1, a fourth of those for the test."""
    if experiment == "adult":
        arrays = table | {
            "train_labels": np.arange(300, dtype=np.int8) % 3 // 2 ^ 1,
            "test_labels": np.arange(200, dtype=np.int8) % 4 // 3,
        }
    else:
        labels = np.zeros(60, np.int8)
        labels[graph["train"]] = np.arange(36) % 3 // 2 ^ 1
        labels[graph["test"]] = np.arange(24) % 4 // 3
        arrays = graph | {"labels": labels}
    how = {"adult": ADULT, "cora": CORA}[experiment]
    data, settings = (
        LearningSet(experiment, arrays, "simulated"),
        replace(SETTINGS, experiment=experiment),
    )
    rows = run(how, "majority", data, settings)
    assert rows["value"].tolist() == [0.25] * settings.trials
    assert rows[["epsilon", "noise_std"]].isna().all(axis=None)


def test_noise_beyond_float32_is_said(graph):
    rows = run(
        CORA,
        "mvg_code",
        LearningSet("cora", graph, "simulated"),
        Settings("cora", 7, 1, ("0.0000000000000001",), 1e-5),
    )
    assert rows["outcome"][0] == "skipped"
    assert rows["note"][0].startswith("noise of ")
    assert rows["value"].isna().all()


def test_bad_data_and_names_are_said_in_one_sentence(adult, table):
    with pytest.raises(InputError, match="did you mean 'imgm'"):
        run(ADULT, "imgn", adult, SETTINGS)
    same = LearningSet("adult", table | {"train_labels": np.zeros(300, np.int8)}, "original")
    with pytest.raises(InputError, match="labels of adult are all"):
        run(ADULT, "imgm", same, SETTINGS)
    broken = LearningSet(
        "adult", table | {"train_inputs": table["train_inputs"] * np.nan}, "original"
    )
    with pytest.raises(InputError, match="diverges"):
        run(ADULT, "nonprivate", broken, SETTINGS)


def python(text, **environment):
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH, **environment},
    )


@pytest.mark.parametrize("missing", ["jax", pytest.param("optax", marks=pytest.mark.nightly)])
def test_missing_packages_are_said_in_one_sentence(missing):
    found = python(
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from matrixdp.checks import InputError\n"
        "try:\n    import reproduction.experiments.training\n"
        "except InputError as error:\n    print(error)"
    )
    assert found.stdout.startswith(f"{missing} cannot be imported")
    assert "pip install" in found.stdout
    assert found.stdout.count("\n") == 1


def test_a_classifier_has_an_output_for_every_class():
    """Ten classes on the axes of ten features: without privacy all are told apart."""
    labels = np.arange(400, dtype=np.int8) % 10
    values = np.eye(10, dtype=np.float32)[labels]
    parts = {"train": slice(300), "test": slice(300, None)}
    arrays = {f"{part}_features": values[rows] for part, rows in parts.items()}
    arrays |= {f"{part}_labels": labels[rows] for part, rows in parts.items()}
    data = LearningSet("mnist", arrays, "simulated")
    rows = run(IMDB, "nonprivate", data, replace(SETTINGS, experiment="mnist_features"))
    assert (rows["value"] == 1).all()
