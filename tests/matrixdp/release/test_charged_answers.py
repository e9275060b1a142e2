"""What is charged is answered, whatever fails between the charge and the answer."""

import errno
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import harness
import numpy as np
import pytest
from exactness import same_copies

import matrixdp as mdp
from matrixdp import cli
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.release import description, durable, storage
from matrixdp.release.answer import Answer
from matrixdp.release.outputs.covariance import Covariance
from matrixdp.release.outputs.groups import Counts, GroupMean
from matrixdp.release.outputs.noisy import draw_content, stored_draw
from matrixdp.release.outputs.output import Output
from matrixdp.release.uncertainty import MomentNoise

#: Name of the constant in a draw that is not described.
ONE = "the constant 1"
KEYS = {"query": "covariance", "total": {"epsilon": 4.0, "delta": 1e-5}}
IN_PARTS = {**KEYS, "mechanism": "clipped"}
ADDITIVE = {**KEYS, "mechanism": "analyze_gauss"}


def fail(*_):
    raise RuntimeError("it fails")


def fill(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(*_):
    raise InputError("the disk is full")


def exhaust(*_):
    raise MemoryError


def warn(*_):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.warn("a doubt", UserWarning, stacklevel=2)


def kill(*_):
    os._exit(9)


FAULTS = {"error": fail, "full disk": fill, "memory": exhaust, "warning": warn, "kill": kill}

#: Steps that follow the draw, by the object that has the function of a name.
STEPS = {
    "read": (MomentNoise, "__init__"),
    "means": (Output, "means"),
    "answer": (Covariance, "answer"),
    "table": (Output, "table"),
    "details": (Output, "described"),
    "intervals": (Covariance, "interval"),
    "doubts": (Output, "doubts"),
    "notes": (description, "notes_of_release"),
    "files": (Answer, "files"),
}


def arm(monkeypatch, place, name, fault, charged):
    """Let a function fail once there is a charge, and not before."""
    function = getattr(place, name)

    def call(*given, **more):
        if charged():
            fault()
        return function(*given, **more)

    monkeypatch.setattr(place, name, call)


def draws(folder):
    """Return the draws that are stored beside the account."""
    files = folder.glob("people.csv.privacy.*.json")
    return [storage.content(file).release["draw"] for file in files]


@pytest.mark.parametrize("keys", [IN_PARTS, ADDITIVE], ids=["clipped", "analyze_gauss"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_a_file_has_the_answer_of_its_draw(folder, capsys, monkeypatch, step, fault, keys):
    with monkeypatch.context() as patch:
        charged = lambda: bool(harness.charges(folder))  # noqa: E731
        arm(patch, *STEPS[step], FAULTS[fault], charged)
        if fault == "kill":
            process = os.fork()
            if not process:
                harness.run(folder, **keys)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
        else:
            assert harness.run(folder, **keys) == 2
            message = capsys.readouterr().err
            assert message.count("\n") == 1
            assert "the same request describes it at no cost" in message
    (draw,) = draws(folder)
    assert len(harness.charges(folder)) == 1
    # The same request has the answer of this draw, and no other.
    assert harness.run(folder, **keys) == 0
    assert "not charged" in capsys.readouterr().err
    assert len(harness.charges(folder)) == 1
    assert draws(folder) == [draw]
    shown = harness.read(folder, "covariance").numbers[:, 1:]
    moments = np.array(draw["value" if "value" in draw else "moments"])
    raw = harness.read(folder, "covariance").details["raw_covariance"]
    mean = moments[-2, [0, 2]] if "value" in draw else np.zeros(2)
    second = moments[np.ix_([0, 2], [0, 2])] if "value" in draw else moments
    half = np.array([60, 100_000])
    expected = (second - np.outer(mean, mean)) * np.outer(half, half)
    np.testing.assert_allclose([[*row.values()] for row in raw.values()], expected, rtol=1e-9)
    assert shown.shape == (2, 2)


BY = {"by": "income", "categories": {"income": [0, 3e5]}, "bounds": {"age": [0, 120]}}
OF_GROUPS = [
    *((GroupMean, step, BY) for step in ("answer", "interval", "details", "table")),
    *(
        (Counts, step, {**BY, "query": "counts", "bounds": None, "missing": None})
        for step in ("answer", "interval", "details")
    ),
]


@pytest.mark.parametrize(("kind", "step", "keys"), OF_GROUPS)
def test_groups_have_the_answer_of_their_draw(folder, capsys, monkeypatch, kind, step, keys):
    with monkeypatch.context() as patch:
        arm(patch, kind, step, fail, lambda: bool(harness.charges(folder)))
        assert harness.run(folder, **keys) == 2
        assert "the same request describes it at no cost" in capsys.readouterr().err
    (draw,) = draws(folder)
    assert harness.run(folder, **keys) == 0
    assert len(harness.charges(folder)) == 1
    assert draws(folder) == [draw]
    answer = harness.read(folder, keys.get("query", "mean"))
    counts = 400 * np.array(draw["value"])[0, :: 1 if "query" in keys else 2]
    np.testing.assert_allclose(answer.numbers[:, 0], np.clip(counts, 0, 400), rtol=1e-9)


def test_without_the_stored_draw_a_fault_would_lose_it(folder, capsys, monkeypatch):
    """The control: were the draw stored only with its description, it would be charged twice."""
    store = storage.store
    with monkeypatch.context() as patch:
        arm(patch, Covariance, "answer", kill, lambda: bool(harness.charges(folder)))
        patch.setattr(storage, "store", lambda *given: store(*given) if given[3] else None)
        process = os.fork()
        if not process:
            harness.run(folder, **IN_PARTS)
            os._exit(0)
        os.waitpid(process, 0)
    assert harness.run(folder, **{**IN_PARTS, "total": {"epsilon": 4.0, "delta": 1e-5}}) == 0
    assert len(harness.charges(folder)) == 2


@pytest.mark.parametrize("step", [step for step in STEPS if step != "files"])
@pytest.mark.parametrize("fault", ["error", "full disk", "memory", "warning"])
@pytest.mark.parametrize("mechanism", ["clipped", "analyze_gauss"])
@pytest.mark.parametrize("counted", [True, False], ids=["account", "alone"])
def test_records_in_memory_have_the_numbers_of_their_draw(
    tmp_path, monkeypatch, step, fault, mechanism, counted
):
    account = mdp.Account(tmp_path / "a.json", epsilon=4, delta=1e-5) if counted else None
    drawn = []
    kind = ComposedMoments if mechanism == "clipped" else AdditiveMechanism
    prepare = kind.prepare

    def watch(*given):
        draw = prepare(*given)
        return lambda: drawn.append(draw()) or drawn[-1]

    monkeypatch.setattr(kind, "prepare", watch)
    arm(monkeypatch, *STEPS[step], FAULTS[fault], lambda: bool(drawn))
    answer = mdp.make_release(
        harness.ROWS,
        query="covariance",
        bounds={0: (0, 120), 1: (0, 200_000)},
        epsilon=2,
        delta=1e-6,
        missing="refuse",
        mechanism=mechanism,
        account=account,
    )
    (draw,) = drawn
    expected = draw.moments if mechanism == "clipped" else draw
    assert same_copies(np.array(answer.rows), expected)
    (note,) = answer.notes
    assert "the description of this answer fails" in note
    assert answer.details["middle"] == [60, 100_000]
    assert repr(answer)
    assert answer.receipt["epsilon"] == 2
    if counted:
        assert len(account.releases) == 1


#: Records in half ranges, the groups of the records, and where a draw has their means by column.
SCALED = np.clip((harness.ROWS - [60, 100_000]) / [60, 100_000], -1, 1)
GROUP = np.arange(len(SCALED)) % 2
MEANS = {"0": SCALED[:, 0].mean(), "1": SCALED[:, 1].mean()}
OF_GROUP = {
    f"{column} of {group}": (SCALED[:, column] * (group == GROUP)).mean()
    for column in (0, 1)
    for group in (0, 1)
}
COUNTED = {"by": 2, "categories": {2: [0, 1]}}
NAMED = [
    ({"query": ["mean", "regression"], "target": 0, "mechanism": "gaussian"}, MEANS),
    ({"query": "regression", "target": 1, "mechanism": "gaussian"}, MEANS),
    ({"query": "mean"}, MEANS),
    ({"query": "mean", "adjacency": "add_or_remove"}, MEANS),
    ({"query": "mean", "missing": "present"}, MEANS | {"count of 1": 3**0.5}),
    ({"query": "mean", **COUNTED}, OF_GROUP),
    ({"query": "counts", "bounds": None, "missing": None, **COUNTED}, {"count of 1": 0.5}),
]


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("keys", "numbers"), NAMED)
def test_numbers_without_a_description_have_their_names(tmp_path, monkeypatch, keys, numbers):
    relation = {"adjacency": keys.get("adjacency", "replace")}
    account = mdp.Account(tmp_path / "a.json", epsilon=4, delta=1e-5, **relation)
    arm(monkeypatch, description, "notes_of_release", fail, lambda: bool(account.releases))
    rows = np.column_stack([harness.ROWS, GROUP])[:, : 3 if "by" in keys else 2]
    request = {
        "bounds": {0: (0, 120), 1: (0, 200_000)},
        "missing": "refuse",
        "records": len(rows),
        "epsilon": 2,
        "delta": 1e-6,
        **keys,
    }
    request = {key: value for key, value in request.items() if value is not None}
    made = mdp.make_release(rows, account=account, even_if_useless=True, **request)
    for answer in made.values() if isinstance(made, dict) else [made]:
        row = answer.rows[answer.header.index(ONE) if len(answer.rows) > 1 else 0]
        named = dict(zip(answer.header, row, strict=True))
        assert {name: named[name] for name in numbers} == pytest.approx(numbers, abs=1e-5)


def test_what_could_never_be_described_is_refused_before_its_charge(folder, capsys, monkeypatch):
    monkeypatch.setattr(Covariance, "details", fail)
    assert harness.run(folder, **KEYS) == 2
    message = capsys.readouterr().err
    assert "cannot be described, as a trial on public values shows (it fails)" in message
    assert "nothing was charged" in message
    assert not harness.charges(folder)


@pytest.mark.parametrize("keys", [IN_PARTS, ADDITIVE], ids=["clipped", "analyze_gauss"])
def test_a_disk_that_is_full_after_the_charge_loses_nothing(folder, capsys, monkeypatch, keys):
    replace, count = os.replace, []

    def full(source, target):
        if Path(target).name.startswith("people.csv.privacy.") and len(count) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count.extend([target] * Path(target).name.startswith("people.csv.privacy."))
        replace(source, target)

    # The account is written, and what follows beside it is not.
    monkeypatch.setattr(os, "replace", full)
    assert harness.run(folder, **keys) == 0
    assert "the same request would be charged again" in capsys.readouterr().err
    assert harness.read(folder, "covariance").numbers.shape == (2, 3)


@pytest.mark.parametrize("names", [["covariance"], ["covariance", "components"]])
def test_numbers_without_a_description_replace_no_other_file(folder, monkeypatch, names):
    """Files are claimed before the draw, when nobody knows that its description will fail."""
    charged = lambda: bool(harness.charges(folder))  # noqa: E731
    arm(monkeypatch, Output, "described", fail, charged)
    arm(monkeypatch, storage, "store", refuse, charged)
    (folder / "out").mkdir()
    (folder / "out" / "draw_of_covariance.csv").write_text("mine")
    query = names if len(names) > 1 else names[0]
    assert harness.run(folder, **{**IN_PARTS, "query": query}) == 0
    assert (folder / "out" / "draw_of_covariance.csv").read_text() == "mine"
    for name, file in zip(names, ("draw_of_covariance_2", "draw_of_components"), strict=False):
        answer = harness.read(folder, file)
        assert answer.numbers.shape == (2, 2)
        assert answer.receipt.get("answer", answer.receipt)["query"] == name


def test_a_file_that_goes_after_the_charge_is_answered(folder, monkeypatch):
    charge = storage.charge

    def remove(*given):
        charge(*given)
        (folder / "people.csv").unlink()

    monkeypatch.setattr(storage, "charge", remove)
    assert harness.run(folder, **IN_PARTS) == 0
    assert len(draws(folder)) == 1


def test_a_process_that_forks_between_charge_and_answer_is_answered_once(folder, monkeypatch):
    store, children = storage.store, []

    def fork(*given):
        process = os.fork()
        if not process:
            # The child has no lock of its parent, and waits for it.
            status = harness.run(folder, "child", **IN_PARTS)
            os._exit(status)
        children.append(process)
        store(*given)

    monkeypatch.setattr(storage, "store", fork)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "_after_fork", lambda: None, raising=False)
        assert harness.run(folder, **IN_PARTS) == 0
    monkeypatch.setattr(storage, "store", store)
    for process in children:
        os.waitpid(process, 0)
    assert len(harness.charges(folder)) == len(draws(folder)) == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_terminal_without_a_letter_shows_its_escape(tmp_path, encoding):
    names = ("größe", "zł")
    rows = np.random.default_rng(0).uniform(0, 1, (400, 2))
    (tmp_path / "people.csv").write_text(
        "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]), encoding="utf-8"
    )
    path = harness.write(tmp_path, bounds={name: [0, 1] for name in names})
    run = subprocess.run(
        [sys.executable, "-m", "matrixdp", "release", path, "--out", tmp_path / "out"],
        cwd=Path(cli.__file__).parents[2],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert len(harness.charges(tmp_path)) == 1
    shown = run.stdout.decode(encoding)
    assert json.loads(f'"{shown.splitlines()[0]}"').count("mean of größe") == 1


def test_an_answer_of_the_first_version_is_found_at_no_cost(folder, capsys):
    assert harness.run(folder, **KEYS) == 0
    (file,) = folder.glob("people.csv.privacy.*.json")
    stored = storage.content(file)
    answer = {**stored.answer, "receipt": stored.receipt}
    file.write_text(json.dumps({"answer": answer, "sha256": storage.digest(answer)}))
    assert storage.content(file) == storage.Stored(stored.receipt, stored.answer, None)
    capsys.readouterr()
    assert harness.run(folder, "second", **KEYS) == 0
    assert "not charged" in capsys.readouterr().err
    first, second = (harness.read(folder, "covariance", out) for out in ("out", "second"))
    assert first.rows == second.rows
    assert first.receipt == second.receipt
    # Changed by hand, it is refused.
    answer["rows"][0][1] += 1
    file.write_text(json.dumps({"answer": answer, "sha256": stored.receipt["digest"]}))
    with pytest.raises(InputError, match="not as it was stored"):
        storage.content(file)


def test_a_draw_says_of_what_it_is(folder):
    keys = {"missing": "middle", "label": "first", "max_norm": 2e5, **IN_PARTS}
    assert harness.run(folder, insist=True, **keys) == 0
    (file,) = folder.glob("people.csv.privacy.*.json")
    release = storage.content(file).release
    assert release["columns"] == [["age", 0, 120], ["income", 0, 200_000]]
    assert release["neighbours"] == "replace"
    assert (release["records"], release["max_norm"], release["label"]) == (400, 2e5, "first")
    assert (release["mechanism"], release["taken"]) == ("clipped", "clipped")
    assert release["receipt"]["charge"] == 1
    assert set(release["receipt"]["origin_of_bounds"].values()) == {"stated by you"}
    outcome = stored_draw(release["draw"])
    assert draw_content(outcome) == release["draw"]
    assert outcome.moments.shape == (2, 2)


def test_a_draw_of_other_noise_is_not_described(folder, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        arm(patch, Covariance, "answer", fail, lambda: bool(harness.charges(folder)))
        assert harness.run(folder, **ADDITIVE) == 2
    (file,) = folder.glob("people.csv.privacy.*.json")
    release = dict(storage.content(file).release)
    release["noise_std"] *= 1.01
    file.write_text(
        json.dumps({"release": release, "answer": None, "sha256": storage.digest([release, None])})
    )
    capsys.readouterr()
    assert harness.run(folder, **ADDITIVE) == 2
    assert "has noise_std = " in capsys.readouterr().err
    assert durable.part(file).exists() is False
