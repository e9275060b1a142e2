"""Whole trials, from the configuration to the parameters: what was drawn, clipped, added, scored.

Nothing in between is looked at. The first part trains a network whose records each have a parameter
of their own, so that the parameters of a finished trial tell which record was in which lot, how far
it was clipped, and how much noise was added; the privacy is worked out again from these alone.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exactness import same_integers
from exampleloss import losses
from rowframes import frame
from scipy import linalg, stats
from trialnoise import ALPHA, DELTA, gaussian_mu, is_deviation

from reproduction.data import LearningSet
from reproduction.experiments import training
from reproduction.experiments.training import base, examples, gradients, models
from reproduction.privacy import accountants, banded

RECORDS, LOT, EPOCHS, CLIP, TRIALS = 1000, 667, 2, 0.5, 40
STEPS = 3
#: Gradients that clipping leaves alone, and that it must shorten.
SIZES = np.where(np.arange(RECORDS) % 2, 40.0, 0.8 * CLIP).astype(np.float32)


def response(steps):
    """Return how far the parameters end from a gradient of 1 at the first, ... last step."""
    # The momentum is m <- 0.9 m + g, the step g + 0.9 m (Nesterov).
    return gradients.RATE * np.array(
        [sum(gradients.MOMENTUM**k for k in range(left + 2)) for left in range(steps)[::-1]]
    )


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Marks(models.Model):
    """A network in which record i moves entry i of ``marks``, by a gradient of size i, alone."""

    sizes: jax.Array
    labels: jax.Array
    test_labels: jax.Array

    @classmethod
    def of(cls, arrays):
        names = ("train_sizes", "train_labels", "test_labels")
        return cls(*(jnp.asarray(arrays[name]) for name in names))

    @property
    def shapes(self):
        return {"marks": (len(self.labels), 1), "hidden": (100, 200), "hidden_bias": (400, 1)}

    def initial(self, stream):
        return {name: jnp.zeros(shape) for name, shape in self.shapes.items()}

    def gradients(self, params, lot):
        def weighted(weights):
            zero = self.initial(None)
            moved = zero["marks"].at[lot, 0].add(weights * self.sizes[lot])
            return {**zero, "marks": moved}

        return self.sizes[lot], weighted

    def logits(self, params):
        return jnp.zeros((len(self.test_labels), 2))


def trained(monkeypatch, network, arrays, scheme, epsilons, **part):
    """Return the rows of a run, and the parameters with which its trials are scored."""
    found, starts = [], []
    logits, initial = network.logits, network.initial

    def scored(self, params):
        found.append({name: np.asarray(value, np.float64) for name, value in params.items()})
        return logits(self, params)

    def started(self, stream):
        starts.append(initial(self, stream))
        return starts[-1]

    data = LearningSet("probe", arrays, "simulated")
    with monkeypatch.context() as patch:
        patch.setattr(network, "logits", scored)
        patch.setattr(network, "initial", started)
        setup = gradients.PrivateGradients(model=network, lot=1, epochs=9)
        patch.setattr(training, "find_training", lambda experiment, table="TRAININGS": setup)
        patch.setattr(examples, "load_arrays", lambda place: data)
        given = {"experiment": "probe", "dataset": "probe", "seed": 3, **part}
        given |= {"epsilons": list(epsilons), "delta": str(DELTA)}
        rows = frame(base.trials(given, scheme, "somewhere"))
    return rows, found, starts


@pytest.fixture(scope="module")
def probe():
    """Jobs of the network of marks: their rows, and the parameters of every trial by epsilon."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        arrays = {
            "train_sizes": SIZES,
            "train_labels": np.arange(RECORDS) % 2,
            "test_labels": np.zeros(4, int),
        }

        def job(scheme, *epsilons):
            settings = {"trials": TRIALS, "lot": LOT, "epochs": EPOCHS, "clip": CLIP}
            rows, params, _ = trained(monkeypatch, Marks, arrays, scheme, epsilons, **settings)
            # Trials come first, epsilons inside them.
            by_epsilon = {e: params[k :: len(epsilons)] for k, e in enumerate(epsilons)}
            return SimpleNamespace(rows=rows, params=by_epsilon)

        yield {
            "pld_gaussian": job("pld_gaussian", "1", "30000"),
            "imgm": job("imgm", "5"),
            "mvg_binary": job("mvg_binary", "1"),
        }


def noise_of(params, name):
    """Return the noise on a parameter without gradients, by trial, with one step's deviation."""
    moved = np.stack([one[name] for one in params])
    return -moved * LOT / np.linalg.norm(response(STEPS))


@pytest.fixture(scope="module")
def lots(probe):
    """Who was in which lot of which trial, by the marks; how far these moved, and what is left."""
    moved = -np.stack([one["marks"][:, 0] for one in probe["pld_gaussian"].params["30000"]])
    subsets = np.array(list(np.ndindex(*(2,) * STEPS)))
    alone = np.minimum(SIZES, CLIP)[:, None] * (subsets @ response(STEPS)) / LOT
    nearest = np.abs(moved[:, :, None] - alone).argmin(axis=2)
    left = moved - np.take_along_axis(alone, nearest.T, axis=1).T
    return SimpleNamespace(joined=subsets[nearest], subset=nearest, moved=moved, left=left)


def deviation_of(probe, scheme, epsilon):
    """Return the deviation of the noise that the rows of one epsilon state."""
    rows = probe[scheme].rows
    (std,) = set(rows.loc[rows["epsilon"] == epsilon, "noise_std"])
    return std


def test_marks_are_clipped_records_and_the_noise_of_the_scheme_and_nothing_else(probe, lots):
    step = deviation_of(probe, "pld_gaussian", "30000") * np.linalg.norm(response(STEPS)) / LOT
    # Records beyond the clip and records within it.
    for part in (lots.left[:, 1::2], lots.left[:, ::2]):
        assert is_deviation(part, step)
        assert abs(part.mean()) < 5 * step / np.sqrt(part.size)


def test_every_record_joins_every_lot_by_a_coin_of_its_own(lots):
    rate = LOT / RECORDS
    ones = np.array(list(np.ndindex(*(2,) * STEPS))).sum(axis=1)
    expected = rate**ones * (1 - rate) ** (STEPS - ones) * lots.subset.size
    seen = np.bincount(lots.subset.ravel(), minlength=2**STEPS)
    assert stats.chisquare(seen, expected).pvalue > ALPHA
    # Sizes vary as binomial numbers do: lots of a fixed size would not vary at all.
    sizes = lots.joined.sum(axis=1)
    scaled = (sizes - LOT) ** 2 / (RECORDS * rate * (1 - rate))
    low, high = stats.chi2(sizes.size).interval(1 - ALPHA)
    assert low < scaled.sum() < high


@pytest.mark.parametrize("name", ["hidden", "hidden_bias"])
@pytest.mark.parametrize(("scheme", "epsilon"), [("pld_gaussian", "1"), ("imgm", "5")])
def test_every_parameter_gets_the_noise_of_the_row(probe, scheme, epsilon, name):
    noise = noise_of(probe[scheme].params[epsilon], name)
    deviation = deviation_of(probe, scheme, epsilon)
    assert is_deviation(noise, deviation)
    # 1 % of noise is seen on 800,000 numbers, 5 % on 16,000.
    for wrong in (0.99, 1.01) if name == "hidden" else (0.95, 1.05):
        assert not is_deviation(wrong * noise, deviation)


def test_noise_is_fresh_in_every_parameter_and_trial(probe):
    params = probe["imgm"].params["5"]
    names = ("hidden", "hidden_bias")
    first, second = (noise_of(params, name).reshape(TRIALS, -1)[:, :400] for name in names)
    for one, other in ((first, second), (first[1:], first[:-1])):
        correlation = np.corrcoef(one.ravel(), other.ravel())[0, 1]
        assert abs(correlation) < 5 / np.sqrt(one.size)


def test_rows_with_noise_of_their_own_get_it(probe):
    shapes = Marks(SIZES, SIZES, SIZES).shapes
    plan = gradients.Gradients(records=RECORDS, lot=LOT, epochs=EPOCHS, clip=CLIP, shapes=shapes)
    scheme = base.schemes.registry("gradients")["mvg_binary"]
    for name, deviation in scheme.calibrate(plan, epsilon=1, delta=DELTA).deviations.items():
        noise = noise_of(probe["mvg_binary"].params["1"], name)
        for row in range(0, noise.shape[1], 37):
            assert is_deviation(noise[:, row], np.broadcast_to(deviation, noise.shape[1:])[row])


@pytest.mark.parametrize(
    ("scheme", "epsilon"), [("pld_gaussian", "1"), ("pld_gaussian", "30000"), ("imgm", "5")]
)
def test_the_true_epsilon_of_a_row_is_that_of_what_was_drawn(probe, lots, scheme, epsilon):
    """Lots, steps, clip and noise as the parameters show them; the claimed budget for PLD noise."""
    rows = probe[scheme].rows
    rows = rows[rows["epsilon"] == epsilon]
    deviation = noise_of(probe[scheme].params[epsilon], "hidden").std()
    # Long gradients that were in the last lot alone.
    last = (lots.joined == [0, 0, 1]).all(axis=2) & (SIZES > CLIP)
    clip = LOT * np.median(lots.moved[last]) / response(STEPS)[-1]
    drawn = {"rate": lots.joined.mean(), "steps": lots.joined.shape[2], "delta": DELTA}
    found = accountants.pld_epsilon(deviation / clip, **drawn)
    assert rows["epsilon_delivered"].to_numpy() == pytest.approx(found, rel=0.01)
    assert set(rows["delta"].astype(float)) == {DELTA}
    if scheme == "pld_gaussian":
        assert found == pytest.approx(float(epsilon), rel=0.01)
        assert (rows["epsilon_delivered"] <= float(epsilon)).all()
    else:
        assert deviation == pytest.approx(
            CLIP * np.sqrt(STEPS) / gaussian_mu(float(epsilon)), rel=0.004
        )


# Lots in fixed order, with noise that is correlated over the steps


def of_lots(monkeypatch, scheme, epsilons, lot, epochs, trials):
    """Return the rows of the network of marks, the parameters by epsilon, and who joined."""
    arrays = {
        "train_sizes": SIZES,
        "train_labels": np.arange(RECORDS) % 2,
        "test_labels": np.zeros(4, int),
    }
    settings = {"trials": trials, "lot": lot, "epochs": epochs, "clip": CLIP}
    rows, params, _ = trained(monkeypatch, Marks, arrays, scheme, epsilons, **settings)
    steps = round(epochs * RECORDS / lot)
    moved = -np.stack([one["marks"][:, 0] for one in params[-1 :: -len(epsilons)]])
    subsets = np.array(list(np.ndindex(*(2,) * steps)))
    alone = np.minimum(SIZES, CLIP)[:, None] * (subsets @ response(steps)) / lot
    joined = subsets[np.abs(moved[:, :, None] - alone).argmin(axis=2)]
    return rows, [params[k :: len(epsilons)] for k in range(len(epsilons))], joined


def parts_of(joined, bands):
    """Return the largest number of lots of a record, and the least distance between two."""
    gaps = [np.diff(np.flatnonzero(one)) for one in joined.reshape(-1, joined.shape[2])]
    nearest = min((gap.min() for gap in gaps if len(gap)), default=joined.shape[2])
    return int(joined.sum(axis=2).max()), int(nearest)


def final(bands, steps):
    """Return the deviation of the noise that ends in a parameter over that of a draw."""
    column = np.zeros(steps)
    column[:bands] = banded.coefficients(bands)
    strategy = linalg.toeplitz(column, np.zeros(steps))
    return np.linalg.norm(response(steps) @ np.linalg.inv(strategy))


def test_a_fixed_order_shows_every_record_once_an_epoch_in_the_same_place(monkeypatch):
    """Two lots of 500 in each of three epochs; the privacy is worked out from what was drawn."""
    lot, epochs, bands = 500, 3, 2
    rows, (params, _), joined = of_lots(
        monkeypatch, "banded", ["1", "1000000000"], lot, epochs, TRIALS
    )
    by_epoch = joined.reshape(TRIALS, RECORDS, epochs, 2)
    assert (by_epoch.sum(axis=3) == 1).all()
    assert same_integers(by_epoch, np.repeat(by_epoch[:, :, :1], epochs, axis=2))
    assert set(joined.sum(axis=1).ravel().tolist()) == {lot}
    # By chance: half of the records come first, and not the same ones in two trials.
    first = by_epoch[:, :, 0, 0]
    assert abs(np.corrcoef(first[0], first[1])[0, 1]) < 5 / np.sqrt(RECORDS)
    times, nearest = parts_of(joined, bands)
    assert (times, nearest) == (epochs, bands)
    moved = -np.stack([one["hidden"] for one in params]) * lot
    deviation = moved.std() / final(bands, 2 * epochs)
    assert deviation == pytest.approx(CLIP * np.sqrt(times) / gaussian_mu(1), rel=0.004)
    assert is_deviation(moved, deviation * final(bands, 2 * epochs))
    # Independent noise of the stated size ends otherwise.
    rows = rows[rows["epsilon"] == "1"]
    stated = rows["noise_std"].iloc[0] * np.linalg.norm(response(2 * epochs))
    assert not 0.9 < moved.std() / stated < 1.1
    assert rows["noise_std"].to_numpy() == pytest.approx(
        deviation * banded.step_deviation(bands, 2 * epochs), rel=0.004
    )


# The networks of the experiments, in one step on all records


@pytest.mark.parametrize(
    "experiment", ["adult", "cora", pytest.param("mnist", marks=pytest.mark.nightly)]
)
def test_a_step_is_the_sum_of_clipped_gradients_with_noise_on_every_parameter(
    experiment, table, graph, pictures, monkeypatch
):
    network, arrays = {
        "adult": (models.Perceptron, table),
        "cora": (models.GraphNetwork, graph),
        # Gradients of pictures take long; the noise does not depend on their number.
        "mnist": (models.LeNet, {name: values[:60] for name, values in pictures.items()}),
    }[experiment]
    model = network.of(arrays)
    records = len(model.labels)

    @jax.jit
    def singles(params):
        one = jax.grad(lambda p, record: losses(model, p, record[None])[0])
        return jax.vmap(one, (None, 0))(params, jnp.arange(records))

    clip = {"adult": 1.3, "cora": 0.5, "mnist": 7.0}[experiment]
    settings = {
        "trials": 6 if experiment == "mnist" else 30,
        "lot": records,
        "epochs": 1,
        "clip": clip,
    }
    rows, ends, starts = trained(monkeypatch, network, arrays, "imgm", ["1000"], **settings)
    left, clipped = {name: [] for name in model.shapes}, []
    for end, start in zip(ends, starts, strict=True):
        each = {name: np.asarray(value, np.float64) for name, value in singles(start).items()}
        norms = np.sqrt(sum(np.square(value).sum(axis=(1, 2)) for value in each.values()))
        clipped.append(norms > clip)
        shrink = np.minimum(1, clip / norms)
        for name, value in each.items():
            moved = (np.asarray(start[name], np.float64) - end[name]) * records / response(1)[0]
            left[name].append(moved - np.tensordot(shrink, value, 1))
    assert 0.1 < np.mean(clipped) < 0.9
    deviation = clip / gaussian_mu(1000)
    assert rows["noise_std"].to_numpy() == pytest.approx(deviation, rel=1e-9)
    for noise in left.values():
        assert is_deviation(np.stack(noise), deviation)
        assert not is_deviation(0.5 * np.stack(noise), deviation)
