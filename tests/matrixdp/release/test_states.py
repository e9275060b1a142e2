"""Doors by states of a whole program: each answers as ever, of both neighbours, without a word.

A state is what any package may set for the program that it is part of. No door may follow it, and
none may show by it whether a record holds a small number.
"""

import contextlib
import ctypes
import decimal
import functools
import locale
import platform
import sys
import warnings
from decimal import Decimal

import harness
import numpy as np
import pytest
from scipy import special

import matrixdp as mdp
from matrixdp import cli, isolation
from matrixdp.noise import safe
from matrixdp.release import ledger

sklearn = pytest.importorskip("sklearn")

#: Records, and a neighbour of numbers that are small, subnormal, and far beyond any bound.
ROWS = np.random.default_rng(1).uniform(-1, 1, (2000, 3))
OTHER = ROWS.copy()
OTHER[7] = 1e-200, 5e-324, 1.7e308
NEIGHBOURS = {"as ever": ROWS, "small": OTHER}

UNITS = {"bounds": (-1, 1), "epsilon": 4.0, "missing": "refuse"}
APPROXIMATE = {**UNITS, "delta": 1e-6}
TOTAL = {"epsilon": 9.0, "delta": 1e-5}


# --- States --------------------------------------------------------------------------------------


@contextlib.contextmanager
def context(everywhere=False, **settings):
    """Change decimal's context, or also the one that new contexts and threads start from."""
    outer = decimal.getcontext()
    first = decimal.DefaultContext.copy()
    inner = outer.copy()
    for one in (inner, *[decimal.DefaultContext] * everywhere):
        for name, value in settings.items():
            setattr(one, name, value)
    decimal.setcontext(inner)
    try:
        yield
    finally:
        decimal.setcontext(outer)
        for name in settings:
            setattr(decimal.DefaultContext, name, getattr(first, name))


def traps(*, trapped):
    return dict.fromkeys(decimal.getcontext().traps, trapped)


class Caller:
    """What numpy calls, or writes to, on an error."""

    def __call__(self, words, _=None):
        raise AssertionError(words)

    write = __call__


@contextlib.contextmanager
def floats(**modes):
    """Have numpy treat floating-point errors in some ways."""
    before = np.seterrcall(Caller())
    try:
        with np.errstate(**modes):
            yield
    finally:
        np.seterrcall(before)


@contextlib.contextmanager
def changed(read, write, value):
    """Change what functions read and write."""
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


def has_locale(name):
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_ALL, before)
    return True


@contextlib.contextmanager
def warned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@functools.cache
def environment():
    """Return C's functions of a thread's floating-point environment."""
    try:
        return ctypes.CDLL("libm.so.6" if sys.platform == "linux" else None)
    except OSError:
        return None


@contextlib.contextmanager
def flushed():
    """Have this thread take numbers below 1e-308 as 0, as a library of -ffast-math does."""
    # Where the control register lies in what glibc keeps, and its bits.
    places = {"x86_64": (7, 0x8040), "aarch64": (0, 1 << 24)}
    if sys.platform != "linux" or platform.machine() not in places or not environment():
        pytest.skip("knows how on Linux alone")
    place, bits = places[platform.machine()]
    before = (ctypes.c_uint32 * 16)()
    environment().fegetenv(before)
    after = type(before)(*before)
    after[place] |= bits
    environment().fesetenv(after)
    try:
        assert sys.float_info.min * UNITS["epsilon"] / 64 == 0
        yield
    finally:
        environment().fesetenv(before)


#: Constants of C for a direction of rounding, by processor.
DIRECTIONS = {
    "x86_64": {"down": 0x400, "up": 0x800, "towards zero": 0xC00},
    "aarch64": {"up": 0x400000, "down": 0x800000, "towards zero": 0xC00000},
}
DIRECTIONS |= {"AMD64": DIRECTIONS["x86_64"], "arm64": DIRECTIONS["aarch64"]}


@contextlib.contextmanager
def rounding(direction):
    """Have this thread round in one direction."""
    if platform.machine() not in DIRECTIONS or not hasattr(environment(), "fesetround"):
        pytest.skip("does not know the constants of this processor")
    assert environment().fesetround(DIRECTIONS[platform.machine()][direction]) == 0
    try:
        yield
    finally:
        environment().fesetround(0)


@contextlib.contextmanager
def together(*states):
    with contextlib.ExitStack() as stack:
        for state in states:
            stack.enter_context(state())
        yield


DECIMALS = {
    "six digits": {"prec": 6},
    "one digit, all trapped": {"prec": 1, "traps": traps(trapped=True), "everywhere": True},
    "small exponents, none trapped": {
        "Emax": 2,
        "Emin": -2,
        "rounding": decimal.ROUND_DOWN,
        "capitals": 0,
        "clamp": 1,
        "traps": traps(trapped=False),
    },
}
#: What numpy does with each kind of error.
MODES = {"divide": "log", "over": "call", "under": "print", "invalid": "log"}
STATES = {
    "numpy: raise": lambda: floats(all="raise"),
    "numpy: warn": lambda: together(lambda: floats(all="warn"), warned),
    "numpy: print, call and log": lambda: floats(**MODES),
    **{f"decimal: {name}": functools.partial(context, **one) for name, one in DECIMALS.items()},
    "others": lambda: together(
        warned,
        lambda: special.errstate(all="raise"),
        lambda: np.printoptions(precision=1, sign="+", legacy="1.13"),
        lambda: changed(lambda: np.getbufsize(), np.setbufsize, 16),
        lambda: changed(sys.get_int_max_str_digits, sys.set_int_max_str_digits, 640),
        lambda: sklearn.config_context(assume_finite=True, enable_metadata_routing=True),
    ),
    "flushed to zero": flushed,
}
if COMMAS := [name for name in ("de_DE.UTF-8", "fr_FR.UTF-8") if has_locale(name)]:
    everything = functools.partial(locale.setlocale, locale.LC_ALL)
    STATES["a locale of commas"] = lambda: changed(everything, everything, COMMAS[0])


# --- Doors ---------------------------------------------------------------------------------------


def command(verb, **keys):
    """Return a door that runs a verb on a file; it says what was written and printed."""

    def door(folder, rows, capsys):
        harness.save(folder / "people.csv", rows, ("a", "b", "c"))
        of_file = {"bounds": {name: [-1, 1] for name in "abc"}, "records": len(rows)}
        path = harness.write(folder, **{**of_file, "total": TOTAL, **keys})
        capsys.readouterr()
        words = [verb, str(path)] + ["--out", str(folder / "out")] * (verb != "recommend")
        status, printed = cli.main(words), capsys.readouterr()
        if status:
            raise mdp.InputError(printed.err)
        files = sorted((folder / "out").iterdir()) if verb != "recommend" else []
        texts = {file.name: file.read_text().partition('"digest"')[0] for file in files}
        return [(printed.out + printed.err).replace(str(folder), ""), texts]

    return door


def account_of(folder):
    return mdp.Account(folder / "a.privacy.json", **TOTAL)


def released(query, **settings):
    """Return a door of records in memory, charged to an account."""

    def door(folder, rows, _):
        account = account_of(folder)
        answer = mdp.make_release(rows, query=query, account=account, **settings)
        receipt = {key: value for key, value in answer.receipt.items() if key != "digest"}
        numbers = [answer.rows, answer.details, receipt]
        return [numbers, answer.page, repr(answer), answer.notes, account.spent, repr(account)]

    return door


def merged(folder, rows, _):
    asked = {**UNITS, "records": len(rows), "account": folder / "s.privacy.json"}
    epsilon = asked.pop("epsilon")
    sums = sum(mdp.sums("mean", part, **asked) for part in np.array_split(rows, 3))
    answer = mdp.make_release(sums, epsilon=epsilon, total=TOTAL, mechanism="laplace")
    return [sums.steps.tolist(), answer.rows, answer.details, answer.page]


def bounds(folder, rows, _):
    answer = mdp.private_bounds(rows, epsilon=1.0, missing="refuse", account=account_of(folder))
    return [answer.answer, answer.page, answer.files()["bounds.toml"].splitlines()[-4:]]


def covariance(folder, rows, _):
    model = mdp.Covariance(**APPROXIMATE, mechanism="clipped", account=account_of(folder))
    model.fit(rows)
    return [model.covariance_, model.location_, model.eigenvalues_, model.mechanism_.statement]


def components(folder, rows, _):
    model = mdp.PrivatePCA(2, **APPROXIMATE, mechanism="analyze_gauss").fit(rows)
    shown = model.transform(ROWS[:5])
    return [model.components_, model.mean_, shown, model.inverse_transform(shown)]


def ridge(folder, rows, _):
    model = mdp.PrivateRidge(**APPROXIMATE, target_bounds=(-2, 2), mechanism="gaussian")
    model.fit(rows[:, :2], rows[:, :2].sum(axis=1))
    return [model.coef_, model.intercept_, model.coef_std_, model.predict(ROWS[:5, :2])]


def calibrated(mechanism, query, domain=None):
    """Return a door of one's own query, charged by hand."""

    def door(folder, rows, _):
        account = account_of(folder)
        release = mechanism().calibrate(
            query(domain or mdp.Box.cube(3, -1, 1), len(rows)), epsilon=1, delta=1e-6
        )
        facts = [release.explain(), release.statement, release.rounding_factor, release.interval()]
        facts += [account.room(release), account.spend(release), account.spent, account.left]
        return [*facts, account.events(), account.releases[0]["mu"], release.release(rows)]

    return door


def compared(folder, rows, _):
    query = mdp.SecondMomentQuery(mdp.Box.cube(3, -1, 1), len(rows))
    options = mdp.compare_mechanisms(query, epsilon=1, delta=1e-6)
    return [[str(option), option.error, option.release.noise_std] for option in options]


def recommended(folder, rows, _):
    options = mdp.recommend(rows, query="covariance", **APPROXIMATE)
    return [[str(option), option.losses, option.error] for option in options]


def people(folder, rows, _):
    names = ["7", "8", "7", "1e2", "7", "1.50"]
    same = [["7", "7.0"], ["1e2", "100"], ["1,500", "1500"], [Decimal("NaN"), Decimal(7)]]
    refused = []
    for pair in same:
        with pytest.raises(mdp.InputError) as error:
            mdp.bound_contributions(pair, 1)
        refused.append(str(error.value))
    return [mdp.bound_contributions(names, 2).tolist(), refused]


def exact_decimals(folder, rows, _):
    settings = {"epsilon": Decimal("0.30"), "delta": Decimal("1e-6"), "missing": "refuse"}
    answer = mdp.make_release(
        rows, query="mean", bounds={k: (Decimal(-1), Decimal(1)) for k in range(3)}, **settings
    )
    return [answer.rows, answer.page]


DOORS = {
    "release": command("release", mechanism="gaussian"),
    "release: clipped": command("release", query="covariance", mechanism="clipped"),
    "recommend": command("recommend", mechanism="gaussian"),
    "bounds": command("bounds", query=None, columns=["a", "b", "c"], bounds=None),
    "make_release: laplace": released("mean", **UNITS),
    "make_release: gaussian": released("covariance", **APPROXIMATE, mechanism="gaussian"),
    "make_release: norm": released(
        "components", **APPROXIMATE, max_norm=1.0, mechanism="analyze_gauss"
    ),
    "make_release: clipped": released("components", **APPROXIMATE, mechanism="clipped"),
    "make_release: records": released("records", **APPROXIMATE, even_if_useless=True),
    "make_release: present": released("mean", **{**UNITS, "missing": "present"}),
    "make_release: decimals": exact_decimals,
    "make_release: sums": merged,
    "private_bounds": bounds,
    "Covariance": covariance,
    "PrivatePCA": components,
    "PrivateRidge": ridge,
    "Laplace": calibrated(mdp.Laplace, mdp.MeanQuery),
    "Gaussian": calibrated(mdp.Gaussian, mdp.RecordsQuery, mdp.Ball(1.0, 3)),
    "AnalyzeGauss": calibrated(mdp.AnalyzeGauss, mdp.SecondMomentQuery),
    "compare_mechanisms": compared,
    "recommend: records": recommended,
    "bound_contributions": people,
}


def flat(content):
    """Return the numbers and texts of what a door says."""
    if isinstance(content, np.ndarray):
        content = content.tolist()
    if isinstance(content, dict):
        content = [*content.items()]
    if isinstance(content, list | tuple):
        return [leaf for item in content for leaf in flat(item)]
    return [content]


def forget():
    """Compute all anew, but the tables of the laws, which take a second."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("matrixdp"):
            for function in vars(module).values():
                if hasattr(function, "cache_clear") and function is not safe.table:
                    function.cache_clear()


def said(name, folder, rows, capsys, monkeypatch, state=contextlib.nullcontext):
    """Return what a door says in a state, with the same bits and on the same day."""
    forget()
    folder.mkdir()
    monkeypatch.setattr(ledger, "today", lambda: "2026-01-31")
    monkeypatch.setattr("os.urandom", np.random.default_rng(0).bytes)
    with state():
        return flat(DOORS[name](folder, rows, capsys))


@pytest.mark.parametrize("name", DOORS)
def test_doors_answer_in_any_state_as_ever(name, tmp_path, capsys, monkeypatch):
    for kind, rows in NEIGHBOURS.items():
        expected = said(name, tmp_path / kind, rows, capsys, monkeypatch)
        numbers = [isinstance(leaf, float) for leaf in expected]
        for state, enter in STATES.items():
            if kind == "as ever" and state != "numpy: raise":
                continue
            folder = tmp_path / f"{kind} {state}"
            try:
                found = said(name, folder, rows, capsys, monkeypatch, enter)
            except Exception as error:
                raise AssertionError(f"{state}, {kind}: {error!r}") from error
            assert len(found) == len(expected), state
            for one, other, number in zip(found, expected, numbers, strict=True):
                other = pytest.approx(other, rel=1e-9, nan_ok=True) if number else other
                assert one == other, state
    printed = capsys.readouterr()
    assert "encountered" not in printed.out + printed.err


@pytest.mark.parametrize("name", DOORS)
def test_a_direction_of_rounding_is_refused_before_anything_is_charged(
    name, tmp_path, capsys, monkeypatch
):
    for direction in ("down", "up", "towards zero"):
        state = functools.partial(rounding, direction)
        with pytest.raises(mdp.InputError, match=r"rounds floating-point .*; call fesetround"):
            said(name, tmp_path / direction, ROWS, capsys, monkeypatch, state)
    assert not [*tmp_path.rglob("*.privacy.json"), *tmp_path.rglob("out/*")]
    # What the sentence advises was done at the end of that block.
    assert said(name, tmp_path / "nearest", ROWS, capsys, monkeypatch)


# --- Without an isolation, each of these states is followed -----------------------------------


@pytest.fixture
def exposed(monkeypatch):
    """Take the isolation away, and forget the tables of the laws."""
    monkeypatch.setattr(isolation, "Isolation", contextlib.nullcontext)
    safe.table.cache_clear()
    yield
    safe.table.cache_clear()


def test_without_isolation_errors_of_numpy_end_a_release(exposed, tmp_path, capsys, monkeypatch):
    state = STATES["numpy: raise"]
    with pytest.raises(FloatingPointError):
        said("Gaussian", tmp_path / "a", OTHER, capsys, monkeypatch, state)


@pytest.mark.parametrize("name", ["Gaussian", "Laplace", "make_release: clipped"])
def test_without_isolation_another_table_is_refused_before_the_charge(
    exposed, name, tmp_path, capsys, monkeypatch
):
    state = STATES["decimal: six digits"]
    with pytest.raises(mdp.InputError, match="noise has the checksum .* and not .*; release noth"):
        said(name, tmp_path / "a", ROWS, capsys, monkeypatch, state)
    assert not [*tmp_path.rglob("*.privacy.json")]


def test_without_isolation_a_direction_of_rounding_moves_a_calibration(
    exposed, tmp_path, capsys, monkeypatch
):
    upwards, nearest = (
        said("compare_mechanisms", tmp_path / name, ROWS, capsys, monkeypatch, state)
        for name, state in (("up", lambda: rounding("up")), ("nearest", contextlib.nullcontext))
    )
    assert upwards != nearest


def test_states_return_at_the_end_of_a_door_also_of_one_that_refuses():
    with floats(all="raise"), context(prec=5):
        before = np.geterr(), decimal.getcontext()
        for per_person in (1, 0):
            with contextlib.suppress(mdp.InputError):
                mdp.bound_contributions(["Ann"], per_person)
            assert (np.geterr(), decimal.getcontext()) == before
            assert decimal.getcontext() is before[1]
