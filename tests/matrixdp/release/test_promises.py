"""What a release promises holds where it breaks easily: rounding, refusals, names of files."""

import json

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums, gaussian
from matrixdp.release import ledger

SPECIFICATION = """
file = "people.csv"
query = "mean"
records = 3
epsilon = 1
delta = 1e-6
{}
missing = "refuse"
[bounds]
age = [0, 120]
income = [0, 2e5]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("age,income\n1,2\n3,4e307\n-1.7e308,6\n")
    return tmp_path


def run(folder, verb="release", more="", options=(), **replaced):
    total = "" if "total" in more else "total = {epsilon = 1, delta = 1e-6}"
    text = SPECIFICATION.format(f"{more}\n{total}")
    for old, new in replaced.items():
        text = "\n".join(
            f"{old} = {new}" if line.startswith(f"{old} =") else line for line in text.splitlines()
        )
    (folder / "s.toml").write_text(text)
    words = () if verb == "recommend" else ("--out", str(folder / "out"), "--even-if-useless")
    return cli.main([verb, str(folder / "s.toml"), *words, *options])


def calibrated(query, mechanism=None, epsilon=1.0, delta=1e-6):
    return (mechanism or mdp.Gaussian()).calibrate(query, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("far", [0.0, 1.7e9, 1e12, -1e12])
def test_rounding_of_records_does_not_pass_the_range_of_their_bounds(far):
    query = mdp.MeanQuery(mdp.Box((far,), (far + 1.0,)), 1)
    values = [exact_sums.value(query, [[[far + x]]])[0, 0] for x in np.linspace(-0.5, 1.5, 401)]
    assert (min(values), max(values)) == (far, far + 1)
    assert np.ptp(values) == query.l2_sensitivity


def test_rounding_is_paid_for_in_every_entry_that_a_record_changes(monkeypatch):
    box = mdp.Box.cube(50, 0.0, 1.0)
    moments = calibrated(mdp.SecondMomentQuery(box, 100))
    assert moments.noise.identical_columns
    for query, changed in (
        (mdp.SecondMomentQuery(box, 100), 2500),
        (mdp.IdentityQuery(box, 100), 50),
    ):
        release = calibrated(query)
        paid = 2 * safe.STEP * np.sqrt(changed)
        apart = release.statement.mu - paid
        assert release.rounding_factor == pytest.approx(release.mu / apart, rel=1e-11)
        # Whitened values are as much closer together as the noise is larger.
        monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))
        value = np.ones(query.shape)
        assert release.release_value(value) == pytest.approx(
            value if changed == 2500 else value.T, abs=2 * safe.STEP * release.noise_std
        )


def test_a_refusal_depends_on_bounds_and_never_on_the_value():
    release = calibrated(mdp.MeanQuery(mdp.Box((0.0,), (1e9,)), 10**9))
    told = []
    for value in (0.0, 1e9):
        with pytest.raises(mdp.InputError, match="cannot be added safely") as refused:
            release.release_value(np.array([[value]]))
        told.append(str(refused.value))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("low", "high"), [(-1e308, 1e308), (0, 5e-324), (1e308, 1.5e308), (0, 1e80)]
)
def test_bounds_that_no_sensitivity_can_be_computed_for_are_refused(low, high):
    with pytest.raises(mdp.InputError, match="choose a unit"):
        mdp.Box((low,), (high,))


def test_any_finite_value_is_clipped_and_none_is_refused(folder):
    assert run(folder) == 0
    fitted = mdp.PrivatePCA(bounds=(0, 1e-3)).fit([[1e308, -1e308]] * 5)
    assert np.isfinite(fitted.components_).all()


@pytest.mark.parametrize(
    ("domain", "rows", "exact_mean"),
    [
        (mdp.Box((0.0, 4.0), (1.0, 6.0)), [[np.nan, np.inf], [1e308, -np.inf]], [0.75, 5.0]),
        (mdp.Ball(1.0, 2), [[np.inf, 3.0], [np.nan, np.nan]], [0.5, 0.0]),
        (mdp.Ball(1.0, 2), [[1e308, -1e308], [-np.inf, np.inf]], [0.0, 0.0]),
    ],
)
def test_no_number_decides_whether_there_is_a_release(domain, rows, exact_mean):
    query = mdp.MeanQuery(domain, 2)
    assert exact_sums.value(query, [rows])[:, 0] == pytest.approx(exact_mean, abs=1e-5)
    for one in (query, mdp.IdentityQuery(domain, 2), mdp.SecondMomentQuery(domain, 2)):
        assert np.isfinite(calibrated(one).release(rows)).all()


@pytest.mark.parametrize("kind", [int, np.float32, float, object])
@pytest.mark.parametrize("listed", [False, True])
def test_a_masked_number_is_a_missing_one(kind, listed):
    numbers = np.array([[9, 1], [2, 9]]).astype(kind)
    rows = np.ma.array(numbers, mask=[[True, False], [False, True]])
    missing = np.array([[np.nan, 1], [2, np.nan]])
    query = mdp.IdentityQuery(mdp.Box((0.0, 0.0), (10.0, 4.0)), 2)
    expected = exact_sums.value(query, [missing]).tolist()
    given = [*rows] if listed else rows
    assert exact_sums.value(query, [given]).tolist() == expected == [[5, 2], [1, 2]]


@pytest.mark.parametrize("kind", [complex, np.complex64, object])
def test_complex_records_are_refused(kind):
    rows = np.array([[1 + 2j], [3 + 0j]]).astype(kind)
    release = calibrated(mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 2))
    for given in (rows, [*rows], rows.tolist()):
        with pytest.raises(mdp.InputError, match="no array of real numbers"):
            release.release(given)


@pytest.mark.parametrize("text", ["secret", "12secret", "0x1secret", 10**400])
def test_no_message_shows_a_value(folder, capsys, text):
    if isinstance(text, str):
        (folder / "people.csv").write_text(f"age,income\n1,2\n3,{text}\n5,6\n")
        assert run(folder) == 2
        assert "secret" not in capsys.readouterr().err
    release = calibrated(mdp.IdentityQuery(mdp.Box((0.0,), (1.0,)), 1))
    with pytest.raises(mdp.InputError, match="no array of real numbers") as refused:
        release.release([[text]])
    assert refused.value.__cause__ is refused.value.__context__ is None
    assert "secret" not in str(refused.value)


def test_one_account_has_one_kind_of_neighbours(folder, capsys):
    more = "total = {epsilon = 9, delta = 1e-5}"
    assert run(folder, more=more) == 0
    (folder / "out").rename(folder / "first")
    assert run(folder, more=f'adjacency = "add_or_remove"\n{more}') == 2
    assert "state the same" in capsys.readouterr().err


def test_a_link_leads_to_the_account_of_its_file(folder):
    (folder / "link.csv").symlink_to("people.csv")
    assert run(folder) == 0
    (folder / "out").rename(folder / "first")
    assert run(folder, file='"link.csv"', query='"second_moments"') == 2
    assert not (folder / "link.csv.privacy.json").exists()


def test_a_second_name_of_a_file_has_no_account_of_its_own(folder, capsys):
    assert run(folder) == 0
    (folder / "out").rename(folder / "first")
    (folder / "second.csv").hardlink_to(folder / "people.csv")
    for name in ("people", "second"):
        assert run(folder, file=f'"{name}.csv"') == 2
        assert "names (hard links) of the same file" in capsys.readouterr().err
    assert run(folder, more='account = "other.json"') == 2
    assert "is the account of" in capsys.readouterr().err
    shared = 'account = "people.csv.privacy.json"'
    assert run(folder, more=shared, file='"second.csv"', query='"second_moments"') == 2
    assert "would be spent of 1" in capsys.readouterr().err
    assert len([*folder.glob("*.privacy.json")]) == 1


def test_an_account_elsewhere_stays_the_only_one(folder, capsys):
    assert run(folder, more='account = "other.json"') == 0
    (folder / "out").rename(folder / "first")
    assert run(folder, query='"second_moments"') == 2
    assert "would be spent of 1" in capsys.readouterr().err
    assert run(folder, more='account = "third.json"') == 2
    assert "is the account of" in capsys.readouterr().err
    assert not (folder / "third.json").exists()
    assert (folder / "people.csv.privacy.json").readlink().name == "other.json"


def test_of_two_accounts_begun_at_once_one_is_refused(folder, monkeypatch, capsys):
    place, places = ledger.account_path, []

    def late(*asked):
        places.append(place(*asked))
        if len(places) == 2:  # the first one looks for earlier charges
            (folder / "people.csv.privacy.json").symlink_to("other.json")
        return places[-1]

    monkeypatch.setattr(ledger, "account_path", late)
    assert run(folder) == 2
    assert "was begun elsewhere just now; run again" in capsys.readouterr().err


def test_space_of_an_account_of_a_similar_name_stays(folder):
    part = folder / ".people.csv.privacy.b.json.part"
    part.touch()
    stale = folder / f".people.csv.privacy.{'0' * 16}.json.part"
    stale.touch()
    assert run(folder) == 0
    assert (part.exists(), stale.exists()) == (True, False)


def test_an_account_stays_one_whatever_its_names(folder, capsys):
    account = folder / "people.csv.privacy.json"
    (folder / "elsewhere").mkdir()
    account.symlink_to("elsewhere/account.json")
    assert run(folder) == 0
    (folder / "out").rename(folder / "first")
    assert account.is_symlink()
    assert len(json.loads((folder / "elsewhere/account.json").read_text())["releases"]) == 1
    account.unlink()
    account.hardlink_to(folder / "elsewhere/account.json")
    assert run(folder) == 2
    assert "is an account with 2 names (hard links)" in capsys.readouterr().err


def test_the_account_is_written_before_there_is_noise(folder, monkeypatch):
    def stop(*_):
        account = json.loads((folder / "people.csv.privacy.json").read_text())
        assert len(account["releases"]) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(safe, "noise", stop)
    with pytest.raises(KeyboardInterrupt):
        run(folder)
    assert not list((folder / "out").iterdir())


def test_delta_as_stated_has_room_for_the_law_of_noise(folder):
    query = mdp.SecondMomentQuery(mdp.Box.cube(20, -1.0, 1.0), 100)
    for one in mdp.options(query, epsilon=3.0, delta=1e-9):
        stated = one.release.statement
        used = 0 if stated.mu is None else gaussian.delta(stated.epsilon, stated.mu)
        assert used + stated.sampler_delta <= stated.delta <= 1e-9
    with pytest.raises(mdp.InputError, match="safe noise on 400 numbers alone"):
        mdp.options(query, epsilon=20.0, delta=0)
    fitted = mdp.PrivatePCA(bounds=(-1, 1), delta=1e-9).fit(np.eye(5))
    assert fitted.release_.statement.delta <= 1e-9
    assert run(folder, more='mechanism = "gaussian"') == 0
    receipt = json.loads((folder / "out/mean.receipt.json").read_text())
    assert receipt["delta"] == 1e-6
    needed = []
    for epsilon, delta in receipt["curve"]:
        # What holds at one epsilon holds at any larger one, so that the curve never grows.
        needed.append(gaussian.delta(epsilon, receipt["mu"]) + safe.extra_delta(epsilon, 2))
        assert delta == min(needed)
    assert min(needed) < needed[-1]


def test_recommendation_is_in_the_columns_own_units_with_a_price(folder, capsys):
    (folder / "people.csv").unlink()
    assert run(folder, "recommend", query='"records"', records=2000) == 0
    told = capsys.readouterr().out
    assert (
        "value of income: noise of +- 566,000 on values from 0 to 200,000: do not release this"
        in told
    )
    assert "price of privacy (noise of half of the largest deviation): epsilon 11.3" in told
