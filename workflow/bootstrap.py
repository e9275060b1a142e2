"""Set up the project's own environment and run something in it; `make` calls this file.

    python3 workflow/bootstrap.py run [snakemake arguments]   the workflow (the default)
    python3 workflow/bootstrap.py test [pytest arguments]     the tests
    python3 workflow/bootstrap.py mutants [arguments]         the tests, with errors injected
    python3 workflow/bootstrap.py bench [arguments]           the speed measurements
    python3 workflow/bootstrap.py docs                        what `import matrixdp` gives
    python3 workflow/bootstrap.py page [arguments]            the page on the kept results
    python3 workflow/bootstrap.py redraw [arguments]          the kept results' figures, compared
    python3 workflow/bootstrap.py verify [arguments]          the last run, compared with them
    python3 workflow/bootstrap.py keep [arguments]            the last run, kept in their place
    python3 workflow/bootstrap.py setup                       only the environment
    python3 workflow/bootstrap.py slurm                       also what SLURM needs
    python3 workflow/bootstrap.py clean                       delete what runs have made

The environment is the folder .venv, made from workflow/requirements.lock by venv and pip (by uv
where it is installed) and made again when the lock, the Python or the place changes. A run locks
the folder until it ends, however it ends; a run that was killed is continued by the next one.

Only the standard library is used, and only syntax that an older Python can read, so that it can
say what is wrong with itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

try:
    import fcntl
except ImportError:
    sys.exit("Windows itself is not supported: start this in WSL, on Linux or on macOS.")

ROOT = Path(__file__).resolve().parents[1]
MINIMUM = (3, 11)
#: What the stamp says while an environment is being filled.
UNFINISHED = "unfinished"
#: What shows a run, and starts it.
SHOWN = "snakemake_logger_plugin_plain"
SLURM = "snakemake-executor-plugin-slurm>=2.8,<3"


class SetupError(Exception):
    """Something that the user must mend first; the message says what and how."""


def check_python(version: tuple) -> None:
    """Raise SetupError if a Python of this version is too old for the project."""
    if tuple(version[:2]) < MINIMUM:
        have, want = (".".join(str(part) for part in numbers[:2]) for numbers in (version, MINIMUM))
        raise SetupError(
            f"This is Python {have} and the project needs Python {want} or newer: install one and "
            f"name it, as in `make PYTHON=python{want}`."
        )


def check_modules(*names: str, find: Callable = importlib.util.find_spec) -> None:
    """Raise SetupError if this Python cannot make environments (Debian packs that part apart)."""
    missing = [name for name in names if find(name) is None]
    if missing:
        raise SetupError(
            f"This Python comes without {missing[0]}, which environments are made with: install it "
            "(on Debian and Ubuntu: `sudo apt install python3-venv`) and start again."
        )


def snakemakes(folder: Path) -> list[int]:
    """Return the processes that run Snakemake in this folder (none where there is no /proc)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = os.fsdecode((process / "cmdline").read_bytes()).split("\0")
            names = [os.path.basename(part) for part in command[:3]]
            runs_it = names[0].startswith("python") and "snakemake" in names[1:]
            if runs_it and os.path.samefile(process / "cwd", folder):
                found.append(int(process.name))
    return found


class Project:
    """The project's folder, its environment in .venv and the lock on its runs."""

    def __init__(self, root: Path = ROOT, version: tuple = sys.version_info) -> None:
        self.root = root
        self.version = tuple(version[:3])
        self.requirements = root / "workflow" / "requirements.lock"
        self.venv = root / ".venv"
        self.python = self.venv / "bin" / "python"
        self.stamp = self.venv / "matrixdp.stamp"
        self.lock_file = root / ".snakemake" / "matrixdp.lock"
        self.held: tuple[int, ...] = ()

    def fingerprint(self) -> str:
        """Return what .venv depends on: the lock's content, the Python version, the place."""
        digest = hashlib.sha256(self.requirements.read_bytes()).hexdigest()
        return f"{digest} {'.'.join(str(part) for part in self.version)} {self.venv.resolve()}"

    def ready(self) -> bool:
        """Whether .venv was completed for the present fingerprint."""
        return (
            self.python.exists()
            and self.stamp.exists()
            and self.stamp.read_text() == self.fingerprint()
        )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, or refuse at once.

        The system frees the lock with the last process that holds its descriptor, also after a
        kill, so that nothing ever has to be removed by hand.
        """
        try:
            self.lock_file.parent.mkdir(exist_ok=True)
            handle = open(self.lock_file, "a+")  # noqa: SIM115
        except OSError as error:
            raise SetupError(
                f"{self.root} cannot be written ({error.strerror}): copy the project to a folder "
                "of your own and start there."
            ) from None
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.seek(0)
                raise SetupError(
                    f"Another start (process {handle.read()}) is still at work in {self.root}: "
                    "wait until it ends or stop it."
                ) from None
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
            self.held = (handle.fileno(),)
            yield
            self.held = ()

    def prepare(self, uv: str | None, execute: Callable | None = None) -> None:
        """Make .venv if it is not ready; the caller holds the lock.

        A .venv that bears no stamp of ours belongs to the user: it is filled if its Python fits,
        and wiped only if not. Ours is made from nothing, since an interrupted installation can
        leave half a package that pip takes for a whole one.

        Args:
            uv: the path of uv; None: use pip.
            execute: runs a command, see :meth:`execute`.
        """
        if self.ready():
            return
        execute = execute or self.execute
        check_modules("venv", *([] if uv else ["ensurepip"]))
        if self.venv.is_symlink():
            raise SetupError(
                f"{self.venv} is a link to {self.venv.resolve()}, which is not the environment of "
                f"{self.requirements.name} and is left as it is: remove the link and start again."
            )
        print(f"Setting up .venv with {'uv' if uv else 'pip'} ...", flush=True)
        library = self.venv / "lib" / f"python{self.version[0]}.{self.version[1]}"
        options = ["--clear"] if self.stamp.exists() or not library.is_dir() else []
        if uv:
            options.append("--without-pip")
        # The interpreter beneath an activated .venv, which --clear would wipe.
        base = getattr(sys, "_base_executable", sys.executable)
        execute([base, "-m", "venv", *options, str(self.venv)])
        self.stamp.write_text(UNFINISHED)
        execute([*self.installer(uv), "--require-hashes", "-r", str(self.requirements)])
        self.stamp.write_text(self.fingerprint())

    def installer(self, uv: str | None) -> list[str]:
        """Return the command that installs into .venv what is added to it."""
        if uv:
            return [uv, "pip", "install", "--python", str(self.python)]
        return [str(self.python), "-m", "pip", "install", "--no-input"]

    def execute(self, command: Sequence[str]) -> None:
        """Run one command of the set-up, show how far it is, raise SetupError if it fails."""
        total = len(re.findall(r"^\S+==", self.requirements.read_text(), re.MULTILINE))
        tail: deque[str] = deque(maxlen=8)
        found = 0
        with subprocess.Popen(
            command,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            pass_fds=self.held,
        ) as process:
            for line in process.stdout or ():
                tail.append(f"    {line.rstrip()}")
                if line.startswith(("Collecting ", "Processing ")):
                    found += 1
                    if found % 10 == 0:
                        print(f"  fetched {found} of about {total} packages", flush=True)
                elif line.startswith("Installing "):
                    print("  installing them", flush=True)
        if process.returncode:
            output = "\n".join(tail)
            raise SetupError(
                f"The set-up failed in `{' '.join(command[:4])} ...`, which said last:\n{output}\n"
                "Check the network and the space on the disk, then start again."
            )

    def environment(self, **extra: str) -> dict[str, str]:
        """Return the variables for a child, which sees our package and .venv but no other path."""
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", os.defpath)])
        return {**os.environ, "PATH": path, "PYTHONPATH": str(self.root / "workflow"), **extra}

    def call(self, *arguments: str) -> int:
        """Run ``python ARGUMENTS`` in the environment and return its exit code."""
        command = [str(self.python), *arguments]
        return subprocess.call(command, cwd=self.root, env=self.environment(), pass_fds=self.held)

    def become(self, *arguments: str, **extra: str) -> NoReturn:
        """Turn into ``python ARGUMENTS``: signals and the exit code need no passing on."""
        os.chdir(self.root)
        for descriptor in self.held:
            os.set_inheritable(descriptor, True)
        os.execve(self.python, [str(self.python), *arguments], self.environment(**extra))

    def refuse_company(self) -> None:
        """Raise SetupError while a Snakemake that was started by hand works in the folder."""
        running = snakemakes(self.root)
        if running:
            raise SetupError(
                f"A snakemake started by hand (process {running[0]}) is still at work in "
                f"{self.root}: wait until it ends or stop it."
            )

    def unlock(self, arguments: Sequence[str]) -> int:
        """Take away the locks that a killed Snakemake left behind; return the exit code."""
        locks = self.root / ".snakemake" / "locks"
        if not (locks.is_dir() and any(locks.iterdir())):
            return 0
        self.refuse_company()
        print("The last run was interrupted; continuing it.", flush=True)
        return self.call("-m", "snakemake", "--quiet", "all", "--unlock", *arguments)

    def check(self, arguments: Sequence[str]) -> int:
        """Check a configuration that is new before Snakemake reads it; return the exit code."""
        config, last = (self.root / name for name in ("config.yaml", "results/settings.yaml"))
        times = [file.stat().st_mtime if file.exists() else 0 for file in (config, last)]
        if times[0] <= times[1] and not any(re.match("--config|-C", one) for one in arguments):
            return 0
        return self.call("-m", "matrixdp", "refresh", "--check", "--", *arguments)

    def refresh(self, arguments: Sequence[str]) -> int:
        """Try again for originals where earlier runs took simulated data; return the exit code."""
        described = [p.read_text() for p in self.root.glob("results/data/*/provenance.json")]
        wanted = ('"status": "simulated"', '"requested": "auto"')
        # Python starts for it only where there is something to try.
        if not any(all(one in text for one in wanted) for text in described):
            return 0
        return self.call("-m", "matrixdp", "refresh", *(["--", *arguments] if arguments else []))


def run(project: Project, arguments: Sequence[str]) -> int:
    """Run Snakemake, which keeps the folder locked; its jobs do not inherit the lock."""
    dry = any(re.fullmatch("--dry-?run|-[a-zA-Z]*n[a-zA-Z]*", one) for one in arguments)
    with project.locked():
        project.prepare(shutil.which("uv"))
        code = project.check(arguments)
        code = code or (0 if dry else project.unlock(arguments) or project.refresh(arguments))
        return code or project.become(str(Path("workflow", SHOWN)), *arguments)


def setup(project: Project, arguments: Sequence[str] = ()) -> None:
    """Make the environment unless it is ready."""
    if not project.ready():
        with project.locked():
            project.prepare(shutil.which("uv"))


def slurm(project: Project, arguments: Sequence[str] = ()) -> None:
    """Add the executor for SLURM, which imports much and is not for every start of Snakemake."""
    setup(project)
    with project.locked():
        project.execute([*project.installer(shutil.which("uv")), SLURM])


def clean(project: Project, arguments: Sequence[str] = ()) -> None:
    """Delete what runs have made; the kept results and .venv stay."""
    with project.locked():
        project.refuse_company()
        for made in project.root.glob("results/*"):
            if made.is_symlink() or made.is_file():
                made.unlink()
            elif made.name != "reference":
                shutil.rmtree(made)


def bench(project: Project, arguments: Sequence[str]) -> int:
    """Run all speed measurements, one after the other; the exit code says if any failed."""
    setup(project)
    files = sorted((project.root / "benchmarks").glob("*.py"))
    return max(abs(project.call(str(file), *arguments)) for file in files)


def python(*words: str, **extra: str) -> Callable:
    """Return the command that becomes ``python WORDS``, with its arguments."""

    def command(project: Project, arguments: Sequence[str]) -> None:
        setup(project)
        project.become(*words, *arguments, **extra)

    return command


COMMANDS = {
    "run": run,
    # Two processes; another -n among the arguments wins.
    "test": python("-m", "pytest", "-n", "2", OPENBLAS_NUM_THREADS="1"),
    "mutants": python("tests/mutants/mutate.py"),
    "bench": bench,
    "setup": setup,
    "slurm": slurm,
    "clean": clean,
    "docs": python("docs/api.py"),
    "page": python("-m", "matrixdp", "report"),
    "redraw": python("-m", "matrixdp", "figure"),
    "verify": python("-m", "matrixdp", "verify"),
    "keep": python("-m", "matrixdp", "keep"),
}


def main(arguments: Sequence[str]) -> int | None:
    """Run one command; the result is for sys.exit."""
    name = arguments[0] if arguments else "run"
    if name in ("-h", "--help"):
        print(__doc__)
        return 0
    try:
        if name not in COMMANDS:
            raise SetupError(f"{name!r} is no command: choose from {', '.join(COMMANDS)}.")
        check_python(sys.version_info)
        return COMMANDS[name](Project(), arguments[1:])
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or ROOT}: {error.strerror}; mend that first.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
