"""Sums of parts are those of all records, to the last bit, and as secret."""

import functools
import itertools
import json
import operator
import os
import pickle
import re
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import harness
import numpy as np
import pandas as pd
import pytest
import visits
from visits import BOUNDS, KEYS, REQUEST, ROWS, TOTAL, alone, bits, frames

import matrixdp as mdp
from matrixdp.privacy import exact_sums
from matrixdp.release import choices, publications


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the parts in ``visits``, and with all records in ``people.csv``."""
    monkeypatch.chdir(tmp_path)
    visits.save(tmp_path)
    return tmp_path


QUERIES = [
    {"query": "mean"},
    {"query": "mean", "adjacency": "add_or_remove", "records": 390},
    {"query": "mean", "max_norm": 1000.0},
    {"query": "second_moments"},
    {"query": "covariance"},
    {"query": "covariance", "adjacency": "add_or_remove"},
    {"query": "covariance", "max_norm": 1e4},
    {"query": "components", "number": 1},
    {"query": "regression", "target": "income", "alpha": 0.5, "missing_values": ["-1", -9]},
]


def parts(query="mean", blocks=None, **keys):
    """Return the sums of parts, as they come from other processes."""
    keys = {**REQUEST, **keys}
    blocks = frames() if blocks is None else blocks
    return [pickle.loads(pickle.dumps(mdp.sums(query, block, **keys))) for block in blocks]


@pytest.mark.parametrize("keys", QUERIES, ids=str)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_release_of_merged_sums_is_that_of_all_records(folder, monkeypatch, keys, delta):
    each = parts(**keys)
    merged = [
        sum(each),
        functools.reduce(operator.add, each[::-1]),
        each[2] + each[0] + each[1] + each[3],
    ]
    assert merged[0] == merged[1] == merged[2]
    assert merged[0] != each[0]
    budget = {"epsilon": 2.0, "delta": delta, "mechanism": "gaussian" if delta else "laplace"}
    total = {"total": TOTAL, "even_if_useless": True}
    bits(monkeypatch)
    one = mdp.make_release(merged[1], **budget, **total)
    bits(monkeypatch)
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    other = mdp.make_release(
        frame, **{**REQUEST, "account": "other.json", **keys}, **budget, **total
    )
    assert [*one.answer] == [*other.answer]
    # The same sums and noise; what is read from them goes through LAPACK.
    np.testing.assert_allclose(one.answer, other.answer, rtol=1e-9)
    same = {"mechanism", "epsilon", "delta", "bounds", "missing", "neighbours", "mu", "curve"}
    assert {key: one.receipt[key] for key in same} == {key: other.receipt[key] for key in same}
    (charge,) = json.loads((folder / "visits.privacy.json").read_text())["releases"]
    assert charge["mu"] == json.loads((folder / "other.json").read_text())["releases"][0]["mu"]


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_several_answers_are_read_from_merged_sums(folder, monkeypatch, mechanism):
    # The weight of the mean, which depends on the mechanism, is one of the noise alone.
    names, frame = ["mean", "covariance"], pd.DataFrame(ROWS, columns=[*BOUNDS])
    asked = {"epsilon": 1, "delta": 1e-6, "total": TOTAL, "mechanism": mechanism}
    answers = []
    whole = {**REQUEST, "query": names, "account": "other.json"}
    for source, more in ((sum(parts(names)), {}), (frame, whole)):
        bits(monkeypatch)
        made = mdp.make_release(source, **asked, **more)
        answers.append([made[name].answer.to_numpy().tolist() for name in names])
    assert answers[0] == answers[1]
    assert len(harness.charges(folder, "visits")) == 1


def test_sums_are_offered_no_mechanism_that_reads_records_again(folder):
    bounds = {"age": (0, 1e6)}
    asked = {"epsilon": 1, "delta": 1e-6}
    keys = {**REQUEST, "bounds": bounds, "account": None}
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    whole = mdp.recommend(frame, query="covariance", **keys, **asked)
    (merged,) = parts("covariance", [frame], bounds=bounds)
    options = mdp.recommend(merged, total=TOTAL, **asked)
    assert "clipped" in [option.key for option in whole]
    assert {option.key for option in options} == {option.key for option in whole} - {"clipped"}
    with pytest.raises(mdp.InputError, match="which reads the records several times"):
        mdp.recommend(merged, total=TOTAL, mechanism="clipped", **asked)


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_neighbours_in_parts_are_as_far_apart_as_the_noise_covers(folder, query, adjacency):
    """One record of one part changes, or goes; the control counts its part twice."""
    extremes = itertools.product([-9.0, 0.0, 60.0, 500.0], [0.0, 1e5, 9e9])
    keys = {"adjacency": adjacency, "records": 3}
    rest = [np.array([[3.0, 9e9], [50.0, 5.0]])]
    request = {**REQUEST, "bounds": dict(enumerate(BOUNDS.values())), **keys}
    others = [np.array([row]) for row in extremes] + [np.empty((0, 2))] * (adjacency != "replace")
    spent = {"epsilon": 2.0, "delta": 1e-6, "total": TOTAL}
    seen = []

    def value(blocks, twice=False):
        each = [mdp.sums(query, block, **request) for block in blocks]
        merged = sum(each)
        if twice:
            with pytest.raises(mdp.InputError, match="a part is on both sides"):
                _ = merged + each[-1]
            steps, count = each[-1].steps, 3
            merged = mdp.Sums(
                *(merged.request, merged.table, merged.account, merged.parts, count),
                merged.steps + steps,
            )
        spec = publications._specification(merged, {key: spent[key] for key in spent})
        option = next(one for one in choices.possible(spec, choices.alone(spec)) if one.release.mu)
        seen.append(option.release)
        return exact_sums.value_of_steps(option.release.query, 3, merged.steps)

    def apart(values):
        # Under add_or_remove the last one lacks the record.
        ends = values if adjacency == "replace" else [values[-1]]
        pairs = itertools.product(values, ends)
        return max(np.linalg.norm(release.noise.whiten((a - b)[None])[0]) for a, b in pairs)

    values = [value([*rest, other]) for other in others]
    release = seen[0]
    assert 0.5 * release.mu < apart(values) <= release.mu * (1 + 1e-9)
    doubled = [value([*rest, other], twice=len(other) > 0) for other in others]
    assert apart(doubled) > 1.5 * release.mu


def shared(how):
    """Return two sums that share a part."""
    one, _, two, three = frames()
    first = parts(blocks=[one, two])
    match how:
        case "retry":
            return sum(first), parts(blocks=[one])[0]
        case "both":
            return sum(first), sum(parts(blocks=[three, two]))
        case "other order, same name":
            return [mdp.sums("mean", block, part="7", **REQUEST) for block in (one, one[::-1])]
        case "file and frame":
            keys = {**REQUEST, "account": None}
            file = mdp.sums("mean", "visits/2024-00.csv", **keys)
            return file, mdp.sums("mean", one, **{**REQUEST, "account": file.account})
        case "edited file":
            keys = {**REQUEST, "account": None}
            file = mdp.sums("mean", "visits/2024-00.csv", **keys)
            one.iloc[:5].to_csv("visits/2024-00.csv", index=False)
            return file, mdp.sums("mean", "visits/2024-00.csv", **keys)
    raise AssertionError


SHARED = ["retry", "both", "other order, same name", "file and frame", "edited file"]


@pytest.mark.parametrize("how", SHARED)
def test_a_part_is_merged_once(folder, how):
    one, other = shared(how)
    for left, right in ((one, other), (other, one), (one, one)):
        with pytest.raises(mdp.InputError, match="a part is on both sides, or a copy of it"):
            _ = left + right


def test_parts_without_records_are_merged(folder):
    empty = frames()[1]
    one, *rest = parts(blocks=[frames()[0], empty, empty])
    assert sum([one, *rest]) == one


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"bounds": {**BOUNDS, "age": (0, 121)}}, "summed for two requests"),
        ({"records": 401}, "summed for two requests"),
        ({"missing": "middle"}, "summed for two requests"),
        ({"adjacency": "add_or_remove"}, "summed for two requests"),
        ({"account": "other.json"}, "the parts name two accounts, visits.privacy.json and other"),
    ],
)
def test_parts_of_two_requests_are_not_merged(folder, keys, says):
    one = parts(blocks=frames()[:1])[0]
    with pytest.raises(mdp.InputError, match=says):
        _ = one + parts(blocks=frames()[2:3], **keys)[0]
    with pytest.raises(TypeError):
        _ = one + 1


def test_the_public_number_is_checked_after_merging_and_before_the_charge(folder):
    each = parts()
    with pytest.raises(mdp.InputError, match="stated for 400 records, and there are 301"):
        mdp.make_release(sum(each[:3]), epsilon=1, total=TOTAL)
    assert not (folder / "visits.privacy.json").exists()


#: Fields of sums that were changed, of which the noise or the charge would be another one.
CHANGED = {
    "table": lambda m: {"table": {**m.table, "bounds": {"age": [0, 1], "income": [0, 1]}}},
    "norm": lambda m: {"table": {**m.table, "max_norm": 0.1}},
    "no table": lambda m: {"table": []},
    "shape": lambda m: {"steps": np.full((3, 1), 1, dtype=object)},
    "number": lambda m: {"steps": m.steps * 1.0},
    "count": lambda m: {"count": "400"},
}


@pytest.mark.parametrize("name", CHANGED)
def test_sums_that_were_changed_are_not_released(folder, name):
    merged = sum(parts())
    with pytest.raises(mdp.InputError, match="the sums are not as mdp.sums made them"):
        mdp.make_release(replace(merged, **CHANGED[name](merged)), epsilon=1, total=TOTAL)
    assert not (folder / "visits.privacy.json").exists()


def test_sums_are_as_secret_as_their_records(folder):
    merged = sum(parts(query="covariance"))
    assert repr(merged) == "Sums(for 'covariance', as secret as the records)"
    (folder / ".a.sums.part").touch(0o644)
    merged.save("a.sums")
    merged.save("a.sums")
    assert stat.S_IMODE(os.stat("a.sums").st_mode) == 0o600
    assert mdp.Sums.load("a.sums") == merged
    with pytest.raises(mdp.InputError, match="a part is on both sides"):
        _ = mdp.Sums.load("a.sums") + merged
    (folder / "a.sums").write_text("7077")
    with pytest.raises(mdp.InputError, match="cannot be read as sums of parts") as refusal:
        mdp.Sums.load("a.sums")
    assert "7077" not in str(refusal.value)


def test_files_of_a_folder_name_its_account(folder):
    keys = {**REQUEST, "account": None}
    each = [mdp.sums("mean", path, **keys) for path in sorted((folder / "visits").iterdir())]
    says = "is no part of .csv or .parquet"
    for no_part, part in (("visits", says), ("0.npy", says), ("0.tsv", "rename it to .csv, and")):
        with pytest.raises(mdp.InputError, match=part):
            mdp.sums("mean", no_part, **keys)
    frames()[0].to_csv("semicolons.csv", index=False, sep=";", decimal=",")
    named = {**keys, "account": "visits.privacy.json", "separator": ";", "decimal": ","}
    assert mdp.sums("mean", "semicolons.csv", **named).steps.tolist() == each[0].steps.tolist()
    made = mdp.make_release(sum(each), epsilon=1, total=TOTAL)
    assert made.receipt["mechanism"] == "laplace"
    assert len(harness.charges(folder, "visits")) == 1
    with pytest.raises(mdp.InputError, match="is a part of"):
        mdp.make_release(harness.write(folder, **{**KEYS, "file": "visits/2024-00.csv"}))
    pure = {"mechanism": "laplace", "delta": None, "account": "visits.privacy.json"}
    assert alone(folder, records=130, **pure) == 0


def test_a_part_is_tied_to_the_account_that_is_stated_of_it(folder, capsys):
    keys = {**REQUEST, "account": "else.privacy.json"}
    each = [mdp.sums("mean", path, **keys) for path in sorted((folder / "visits").glob("*.csv"))]
    mdp.make_release(sum(each), epsilon=1, delta=1e-6, total=TOTAL)
    assert harness.run(folder, **KEYS) == 2
    error = capsys.readouterr().err
    assert "was released alone" in error
    (account,) = re.findall('state account = "(.*?)"', error)
    assert harness.run(folder, **{**KEYS, "account": account}) == 0
    assert len(harness.charges(folder, "else")) == 2


@pytest.mark.parametrize("kind", ["Table", "RecordBatch", "polars", "lazy", "dask"])
def test_tables_of_other_packages_are_read_or_refused_by_name(folder, monkeypatch, kind):
    frame = pd.DataFrame(ROWS, columns=[*BOUNDS])
    if kind in ("polars", "lazy"):
        source = pytest.importorskip("polars").from_dicts(frame.to_dict("records"))
        source = source.lazy() if kind == "lazy" else source
    elif kind == "dask":
        source = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    else:
        pa = pytest.importorskip("pyarrow")
        source = getattr(pa, kind).from_pandas(frame)
    keys = {"query": "mean", "bounds": BOUNDS, "epsilon": 2, "missing": "refuse"}
    if kind in ("lazy", "dask"):
        with pytest.raises(mdp.InputError, match="which holds no records yet; give its") as refusal:
            mdp.make_release(source, **keys)
        # The remedy.
        source = getattr(source, re.findall(r"\.(\w+)\(\)", str(refusal.value))[0])()
    answers = []
    for one in (source, frame):
        bits(monkeypatch)
        answers.append(mdp.make_release(one, **keys).answer)
    np.testing.assert_allclose(*answers, rtol=1e-9)


# --- The page on engines ------------------------------------------------------------------------

SCALE = (Path(__file__).parents[3] / "docs/scale.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["dask", "polars", "pyspark"])
def test_what_the_page_says_of_an_engine_gives_the_sums_of_all_records(folder, monkeypatch, engine):
    title = {"pyspark": "Spark"}.get(engine, engine.capitalize() if engine == "dask" else engine)
    names = {"people": pd.DataFrame(ROWS, columns=[*BOUNDS])}
    pytest.importorskip("dask.dataframe" if engine == "dask" else engine)
    if engine == "pyspark":
        from pyspark.sql import SparkSession

        if not shutil.which("java"):
            pytest.skip("Spark needs a Java")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
        names["spark"] = SparkSession.builder.master("local[2]").getOrCreate()
        for path in (folder / "visits").iterdir():
            path.unlink()
        names["people"].to_parquet(folder / "visits/all.parquet")
    blocks = re.findall(r"```python\n(.*?)```", SCALE, re.DOTALL)
    (engine_block,) = re.findall(rf"## {title}\n+```python\n(.*?)```", SCALE, re.DOTALL)
    exec(blocks[0], names)
    exec(engine_block, names)
    whole = mdp.sums("covariance", names["people"], **names["asked"])
    merged = names["merged"]
    assert (merged.count, merged.steps.tolist()) == (400, whole.steps.tolist())
    exec(blocks[1], names)
    assert names["private"].answer.shape == (2, 3)
