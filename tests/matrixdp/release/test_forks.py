"""Processes that are forked beside threads: they end, they hold nothing, and the threads go on."""

import contextlib
import functools
import os
import signal
import socket
import threading
import time
import traceback

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.release import durable, uncertainty

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

ROWS = np.random.default_rng(1).uniform(-1, 1, (400, 3))
PUBLIC = {"bounds": (-1, 1), "missing": "refuse", "even_if_useless": True, "delta": 1e-6}
#: A child that does not end within so many seconds hangs; one that does takes a second.
PATIENCE = 120


def forked(work, patience=PATIENCE):
    """Return the exit code of a forked process that does some work; None where it never ends."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    limit = time.monotonic() + patience
    while time.monotonic() < limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def release(account=None):
    """Make a release whose intervals are simulated."""
    settings = {"mechanism": "analyze_gauss", "epsilon": 0.1, "account": account, **PUBLIC}
    return mdp.make_release(ROWS, query="components", **settings)


class Pause:
    """A point of the code at which a thread stops until it is told to go on."""

    def __init__(self):
        self.reached, self.over, self._thread = threading.Event(), threading.Event(), None

    def __call__(self):
        if threading.current_thread() is self._thread:
            self.reached.set()
            assert self.over.wait(PATIENCE)

    @contextlib.contextmanager
    def reached_by(self, work):
        """Have another thread work until it stops; at the end it goes on, and must finish."""
        finished = []
        self._thread = threading.Thread(target=lambda: finished.append(work()))
        self._thread.start()
        assert self.reached.wait(PATIENCE)
        try:
            yield
        finally:
            self.over.set()
            self._thread.join(PATIENCE)
        assert len(finished) == 1


def in_a_simulation(pause, monkeypatch, account):
    """Stop within what a property of the noise computes once."""
    draw = uncertainty.MomentNoise._draw_blocks

    def slow(noise):
        pause()
        return draw(noise)

    monkeypatch.setattr(uncertainty.MomentNoise, "_draw_blocks", slow)
    return release


def in_an_account(pause, monkeypatch, account):
    """Stop while an account notes what it has seen."""

    class Requests(list):
        def __getitem__(self, place):
            pause()
            return super().__getitem__(place)

    return lambda: account._see(Requests(["one", "two"])) or account


@pytest.fixture
def account(tmp_path):
    return mdp.Account(tmp_path / "a.privacy.json", epsilon=5, delta=1e-5)


@pytest.mark.parametrize("place", [in_a_simulation, in_an_account])
def test_a_fork_waits_for_no_thread(place, account, monkeypatch):
    release(account)
    pause = Pause()
    with pause.reached_by(place(pause, monkeypatch, account)):
        assert forked(release) == 0
        assert forked(lambda: release(account)) == 0


def test_a_fork_that_waits_is_seen():
    held = threading.Lock()
    held.acquire()
    assert forked(held.acquire, patience=1) is None
    assert forked(lambda: 1 / 0) == 1


@pytest.mark.skipif("sys.version_info >= (3, 12)", reason="its cached_property has no lock")
def test_a_property_of_python_hangs_a_fork():
    pause = Pause()

    class Slow:
        @functools.cached_property
        def value(self):
            pause()

    with pause.reached_by(lambda: Slow().value):
        assert forked(lambda: Slow().value, patience=1) is None


def test_a_lazy_property_has_one_value_for_all_threads():
    pause = Pause()

    class Slow:
        @uncertainty.LazyProperty
        def value(self):
            pause()
            return object()

    slow, values = Slow(), []
    with pause.reached_by(lambda: values.append(slow.value)):
        values.append(slow.value)
    assert values[0] is values[1] is slow.value


@pytest.mark.parametrize("step", ["open", "close"])
def test_no_fork_has_a_lock_that_a_thread_is_about_to_note_or_to_close(step, tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    path, reached = tmp_path / "account.lock", threading.Event()
    step_of_system = getattr(os, step)

    def slow(*terms):
        result = step_of_system(*terms) if step == "open" else None
        reached.set()
        # A fork waits for this thread, or else falls into this time.
        time.sleep(0.5)
        return result if step == "open" else step_of_system(*terms)

    def work():
        with durable.lock(path):
            pass

    monkeypatch.setattr(durable.os, step, slow)
    thread = threading.Thread(target=work)
    thread.start()
    assert reached.wait(PATIENCE)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        theirs.send(b"x")
        theirs.recv(1)
        os._exit(0)
    thread.join(PATIENCE)
    monkeypatch.undo()
    try:
        ours.recv(1)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        ours.send(b"x")
        os.waitpid(child, 0)
        ours.close()
        theirs.close()


def test_a_fork_beside_a_thread_that_postpones_signals_hears_them():
    before, codes = signal.getsignal(signal.SIGTERM), []

    def hears():
        assert signal.getsignal(signal.SIGTERM) is before

    with durable.defer_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
        thread = threading.Thread(target=lambda: codes.append(forked(hears)))
        thread.start()
        thread.join(PATIENCE)
    assert codes == [0]
    assert signal.getsignal(signal.SIGTERM) is before


def test_forks_beside_threads_that_release_end_and_every_answer_is_charged(account):
    over, answers = threading.Event(), []

    def work():
        while not over.is_set():
            answers.append(release(account))
            release()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        codes = [forked(lambda: (release(account), release())) for _ in range(5)]
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert codes == [0] * 5
    assert len(account.releases) == len(answers) + 5
