"""A release that is killed after any step: never an answer uncharged, never two for a charge."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import harness
import numpy as np
import pytest

from matrixdp import __main__, cli
from matrixdp.checks import InputError
from matrixdp.cli import release
from matrixdp.noise import safe
from matrixdp.release import durable, storage
from matrixdp.release.answer import Answer
from matrixdp.release.plans import charge_counts, make

#: A release by pure noise, one in parts, whose answer has a file more, and one of bounds.
PURE = {"epsilon": 1.0, "delta": None, "total": {"epsilon": 2.0, "delta": 0}}
IN_PARTS = {
    "query": "covariance",
    "mechanism": "clipped",
    "epsilon": 1.0,
    "delta": 1e-6,
    "total": {"epsilon": 2.0, "delta": 1e-5},
}
BOUNDS = {**PURE, "query": "bounds", "bounds": None, "columns": ["age", "income"]}

ROWS = np.column_stack([np.arange(400), 500 * np.arange(400)])
FILES = ("mean.csv", "mean.receipt.json", "mean.receipt.md", "mean.receipt.svg")

#: Runs a release in a child of its own for each step that it is killed after, then once more.
DRIVER = """
import os, shutil, sys
from pathlib import Path
from matrixdp import cli
from matrixdp.noise import safe
from matrixdp.release import plans, storage

def child(folder, last):
    count = 0

    def step(function, name):
        def call(*given):
            nonlocal count
            count += 1
            if count == last and name == "write":
                function(given[0], bytes(given[1])[: len(given[1]) // 2])
                os._exit(9)
            result = function(*given)
            if count == last:
                os._exit(9)
            return result
        return call

    if last:
        for name in ("write", "ftruncate", "fsync", "replace", "posix_fallocate"):
            if hasattr(os, name):
                setattr(os, name, step(getattr(os, name), name))
        safe.noise = step(safe.noise, "noise")
    os._exit(cli.main(["release", str(folder / "spec.toml"), "--out", str(folder / "out")]))

def run(folder, last=0):
    process = os.fork()
    if not process:
        child(folder, last)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

# Who is killed loses nothing of what is written; only power failures do.
os.fsync = lambda handle: None
start = Path(sys.argv[1])
# What takes long at first is done once: modules, and the table of noise.
first = start.with_name("first")
shutil.copytree(start, first)
assert not cli.main(["release", str(first / "spec.toml"), "--out", str(first / "out")])
for last in range(1, 100):
    folder = start.with_name(f"{last:02}")
    shutil.copytree(start, folder)
    status = run(folder, last)
    shutil.copytree(folder, folder.with_name(f"{last:02}-killed"))
    if not status:
        break
    assert status == 9 and not run(folder)
"""


def state(folder):
    """Return the charges, the files of each answer that is kept, and what is published.

    Of a draw without a description yet there are no files.
    """
    charges, kept = harness.charges(folder), {}
    for one in charges:
        if (folder / one["answer"]).exists():
            stored = storage.content(folder / one["answer"])
            kept[one["answer"]] = Answer.of(stored).files() if stored.answer else {}
    files = sorted((folder / "out").glob("[!.]*"))
    return charges, kept, {file.name: file.read_text() for file in files}


@pytest.mark.parametrize(
    ("keys", "published_files", "parts"),
    [(PURE, 4, 1), (IN_PARTS, 5, 3), (BOUNDS, 3, 1)],
    ids=["mean", "clipped", "bounds"],
)
def test_killed_after_any_step(tmp_path, keys, published_files, parts):
    start = tmp_path / "start"
    start.mkdir()
    harness.save(start / "people.csv", ROWS)
    harness.write(start, **keys)
    subprocess.run(
        [sys.executable, "-c", DRIVER, start],
        cwd=Path(cli.__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    killed = sorted(tmp_path.glob("*-killed"))
    assert len(killed) > 20
    reached = set()
    for before in killed:
        charges, kept, files = state(before)
        # Never an answer uncharged, and none is seen that is not kept, whole.
        answers = [*before.glob("people.csv.privacy.*.json")]
        assert {file.name for file in answers} == {*kept}
        assert len(answers) <= len(charges) <= 1
        assert all(file.stat().st_mode & 0o777 == 0o600 for file in answers)
        assert all(kept and text in kept[charges[0]["answer"]].values() for text in files.values())
        later, now, published = state(before.with_name(before.name.partition("-")[0]))
        # Never two for a charge: a draw that was kept is the answer, and costs nothing more.
        assert {*now} >= {*kept}
        assert all(now[name] == texts for name, texts in kept.items() if texts)
        draws = [
            storage.content(place / name).release["draw"]
            for place in (before, before.with_name(before.name.partition("-")[0]))
            for name in kept
        ]
        assert draws[:1] == draws[1:]
        assert len(now) == 1
        assert len(later) == (1 if kept or not charges else 2)
        assert [published] == [*now.values()]
        assert not [*before.with_name(before.name.partition("-")[0]).rglob(".*.part")]
        reached.add((len(charges), len(kept), len(files)))
    whole = {(1, 1, count) for count in range(published_files + 1)}
    assert reached == {(0, 0, 0), (1, 0, 0)} | whole
    # Each part draws between the charge, of five steps, and the answer's.
    charged = [state(before) for before in killed]
    assert sum(bool(charges) and not kept for charges, kept, _ in charged) == 2 + parts + 3
    # Then it is described: after the last two steps of the draw, three write the description.
    assert sum({} in kept.values() for _, kept, _ in charged) == 5
    # Nothing is left behind where the run ended by itself.
    assert not [*killed[-1].rglob(".*.part")]


def test_a_forked_process_holds_no_lock_of_another_thread(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    ours, theirs = socket.socketpair()
    with durable.lock(tmp_path / "account.lock"):
        process = os.fork()
        if not process:
            ours.close()
            theirs.send(b"x")
            theirs.recv(1)
            os._exit(0)
    theirs.close()
    try:
        ours.recv(1)
        with (tmp_path / "account.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        ours.close()
        os.waitpid(process, 0)


def run(folder, out="out", **keys):
    return harness.run(folder, out, **{**PURE, **keys})


def test_the_charge_is_on_the_disk_before_noise_and_the_answer_before_it_is_seen(
    folder, monkeypatch
):
    if not Path("/proc/self/fd").exists():
        pytest.skip("takes /proc to name what is on the disk")
    steps, fsync, replace = [], os.fsync, os.replace

    def sync(handle):
        steps.append(f"fsync {Path(os.readlink(f'/proc/self/fd/{handle}')).name}")
        fsync(handle)

    def rename(source, target):
        steps.append(f"replace {target.name}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    noise = safe.noise
    monkeypatch.setattr(safe, "noise", lambda *given: (steps.append("noise"), noise(*given))[1])
    assert run(folder) == 0
    (answer,) = folder.glob("people.csv.privacy.*.json")
    order = []
    # The draw, and then with its description.
    for name in ("people.csv.privacy.json", "noise", answer.name, answer.name, *FILES):
        where = "out" if name in FILES else folder.name
        written = [f"fsync .{name}.part", f"replace {name}", f"fsync {where}"]
        order += ["noise"] if name == "noise" else written
    assert steps == order


def test_a_retry_gives_the_same_bytes_and_is_not_charged(folder, capsys):
    assert run(folder) == 0
    assert run(folder, "second") == 0
    assert "not charged" in capsys.readouterr().err
    charges, kept, files = state(folder)
    assert len(charges) == len(kept) == 1
    assert {file.name: file.read_text() for file in (folder / "second").iterdir()} == files
    os.utime(folder / "people.csv", (4e9, 4e9))
    assert run(folder) == 0
    assert "people.csv has changed since; to ask anew" in capsys.readouterr().err
    assert run(folder, "third", label="anew") == 0
    assert len(state(folder)[0]) == 2
    assert (folder / "third/mean.csv").read_text() != files["mean.csv"]


def test_numbers_that_are_written_in_another_way_are_the_same_request(folder):
    assert run(folder) == 0
    text = (folder / "spec.toml").read_text().replace("epsilon = 1.0", "epsilon = 1")
    (folder / "spec.toml").write_text(text.replace("[0, 120]", "[-0.0, 12e1]") + "\n# as before\n")
    words = ["release", str(folder / "spec.toml"), "--out", str(folder / "second")]
    assert cli.main(words) == 0
    assert len(state(folder)[0]) == 1


def test_another_value_of_any_key_is_another_request(folder):
    rows = np.column_stack([harness.ROWS, np.arange(len(harness.ROWS))])
    harness.save(folder / "people.csv", rows, ("age", "income", "who"))
    keys = {"person": "who", "per_person": 1, "adjacency": "replace"}
    first = harness.spec(folder, **keys)
    make(first, folder / "out")
    assert charge_counts([first]) == [1]
    for other in (
        {"per_person": 2},
        {"adjacency": "add_or_remove"},
        {"separator": ";"},
        {"missing": "middle"},
        {"label": "anew"},
        {"epsilon": 1.5},
        {"query": "covariance"},
    ):
        assert charge_counts([harness.spec(folder, **keys | other)]) == [0], other


@pytest.mark.parametrize("place", ["out", "folder"])
def test_a_full_disk_is_refused_before_the_charge(folder, capsys, monkeypatch, place):
    allocate = os.posix_fallocate

    def full(handle, start, size):
        name = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if (name.parent.name == "out") == (place == "out"):
            raise OSError(errno.ENOSPC, "No space left on device")
        allocate(handle, start, size)

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert run(folder) == 2
    message = capsys.readouterr().err
    assert "cannot be written (no space left on device); free some space, or" in message
    assert message.count("\n") == 1
    assert state(folder) == ([], {}, {})


@pytest.mark.parametrize(
    "keys",
    [
        *({"query": query} for query in ("mean", "second_moments", "components", "regression")),
        *({"query": "covariance", "mechanism": name} for name in ("analyze_gauss", "clipped")),
        {"query": "mean", "missing": "present"},
        {**BOUNDS, "columns": [f"column {number} in m²" for number in range(40)]},
    ],
)
def test_space_that_is_reserved_holds_the_files_and_little_more(tmp_path, monkeypatch, keys):
    names, sizes, reserve = [f"column {number} in m²" for number in range(40)], {}, durable.reserve
    harness.save(tmp_path / "people.csv", np.random.default_rng(0).random((400, 40)), names)

    def note(path, size, *mode):
        sizes[path] = size
        reserve(path, size, *mode)

    monkeypatch.setattr(durable, "reserve", note)
    keys = {"bounds": {name: [-3.123456789e-5, 123.456] for name in names}, **keys}
    if keys["query"] == "regression":
        keys["target"] = names[0]
    assert harness.run(tmp_path, insist=True, **keys) == 0
    written = {path: path.stat().st_size for path in sizes if path.exists()}
    assert len(written) >= 4
    assert all(sizes[path] >= size for path, size in written.items())
    assert sum(sizes.values()) < 5 * sum(written.values()) + 1e6


def test_an_answer_that_cannot_be_published_is_kept(folder, capsys, monkeypatch):
    replace = os.replace

    def fail(source, target):
        if Path(target).name == "mean.csv":
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    assert run(folder) == 2
    assert "ask again with another --out, at no cost" in capsys.readouterr().err
    monkeypatch.setattr(os, "replace", replace)
    assert run(folder, "second") == 0
    charges, kept, _ = state(folder)
    assert len(charges) == 1
    (texts,) = kept.values()
    assert texts["mean.csv"] == (folder / "second/mean.csv").read_text()


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM])
def interrupt(request):
    """Return a function that interrupts, as in a terminal: ``nohup`` and shells may ignore it."""
    number = request.param
    before = signal.signal(number, signal.default_int_handler)
    yield lambda *_: signal.raise_signal(number)
    assert signal.getsignal(number) is signal.default_int_handler
    signal.signal(number, before)


def interrupted(folder, monkeypatch, capsys):
    """Return what the command says that is interrupted."""
    words = ["matrixdp", "release", str(harness.write(folder, **PURE))]
    monkeypatch.setattr(sys, "argv", [*words, "--out", str(folder / "out")])
    assert __main__.main() == 130
    out, error = capsys.readouterr()
    assert not out
    return error


def test_an_interrupt_before_the_charge_costs_nothing(folder, monkeypatch, capsys, interrupt):
    monkeypatch.setattr(storage, "mark", interrupt)
    sentence = interrupted(folder, monkeypatch, capsys)
    assert sentence == "matrixdp: interrupted; nothing was charged\n"
    assert state(folder) == ([], {}, {})
    monkeypatch.setattr(sys, "argv", ["matrixdp", "release", "none.toml"])
    monkeypatch.setattr(cli.commands, "parser", interrupt)
    assert __main__.main() == 130


@pytest.mark.parametrize("step", [(safe, "noise"), (storage, "store"), (release, "_print")])
def test_who_interrupts_after_the_charge_still_gets_the_answer(
    folder, monkeypatch, capsys, interrupt, step
):
    action = getattr(*step)
    monkeypatch.setattr(*step, lambda *given: (interrupt(), action(*given))[1])
    sentence = interrupted(folder, monkeypatch, capsys)
    assert sentence.startswith(
        "matrixdp: interrupted; mean was charged, and nothing else; the same"
    )
    charges, kept, files = state(folder)
    assert len(charges) == len(kept) == 1
    monkeypatch.undo()
    assert run(folder) == 0
    assert state(folder)[:2] == (charges, kept)
    assert files.items() <= state(folder)[2].items()


def test_of_a_release_in_parts_that_ends_between_them_nothing_is_seen(folder, monkeypatch):
    noise, parts = safe.noise, []

    def once(*given):
        parts.append(given)
        if len(parts) == 2:
            raise MemoryError
        return noise(*given)

    monkeypatch.setattr(safe, "noise", once)
    with pytest.raises(MemoryError):
        run(folder, **IN_PARTS)
    charges, kept, _ = state(folder)
    assert (len(charges), kept, [*(folder / "out").iterdir()]) == (1, {}, [])
    assert run(folder, **IN_PARTS) == 0
    # Fresh noise for all parts, at the price of a release: the first answer of one is not reused.
    assert len(parts) == 5
    charges, kept, _ = state(folder)
    assert (len(charges), len(kept)) == (2, 1)
    assert {*next(iter(kept.values()))} == {file.name for file in (folder / "out").iterdir()}


def test_of_many_into_one_folder_each_that_is_charged_is_published(folder):
    results, keys = [], {**PURE, "epsilon": 0.5}
    for label in "abc":
        text = harness.text(label=label, **keys)
        (folder / f"{label}.toml").write_text(text)

    def one(label):
        words = ["release", str(folder / f"{label}.toml"), "--out", str(folder / "out")]
        results.append(cli.main(words))

    threads = [threading.Thread(target=one, args=label) for label in "abcabc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    charges, kept, files = state(folder)
    assert sorted(results) == [0, 0, 2, 2, 2, 2]
    assert len(charges) == len(kept) == 1
    assert [files] == [*kept.values()]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    message = r"cannot be written \(not a directory\); move the file that .*, or give another"
    with (
        pytest.raises(InputError, match=message),
        durable.explain(tmp_path / "file/a", "{cure}, or give another"),
    ):
        durable.write(tmp_path / "file/a", "text")


@pytest.mark.parametrize("name", ["people.csv.privacy.json", "out/mean.csv", "out/mean.receipt.md"])
@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "pipe", "left over"])
def test_what_is_planted_under_the_name_of_a_temporary_file_is_left_alone(folder, name, kind):
    (folder / "out").mkdir()
    victim, place = folder / "victim", durable.part(folder / name)
    victim.write_text("kept")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "left over":
        place.write_text("x" * 99_999)
    else:
        (place.symlink_to if kind == "symbolic link" else place.hardlink_to)(victim)
    assert run(folder) == 0
    assert victim.read_text() == "kept"
    file = folder / name
    assert file.is_file()
    assert not file.is_symlink()
    assert "x" * 9 not in file.read_text()
    assert file.stat().st_nlink == 1
    assert not os.path.lexists(place)


def test_a_lock_does_not_follow_a_planted_link(folder, capsys):
    (folder / "people.csv.privacy.json.lock").symlink_to(folder / "victim")
    assert run(folder) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert not (folder / "victim").exists()
