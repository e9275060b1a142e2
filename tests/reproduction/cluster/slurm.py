"""Run the quick workflow on a SLURM of one node, started here, and compare it with a local run.

    DATA_MIRROR=/path \
        .venv/bin/python tests/reproduction/cluster/slurm.py results [snakemake arguments]

The first argument is the folder of a finished local run with the same settings. On Debian the
daemons come with `apt install slurm-wlm munge`; where they are absent nothing is tested, and said.
They talk over the loopback interface only and are stopped at the end, however it comes. Minutes;
root is needed, as slurmd runs as root.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sacct", "scancel")
SYSTEM = Path("/etc/slurm/slurm.conf")
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
#: What a run makes whose bytes depend on the machine or on the time.
MEASURED = (
    *("sampler", "benchmarks", "logs", "metadata", "ro-crate"),
    *("report.html", "settings.yaml"),
)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """Start munge and SLURM with everything in a folder; stop them at the end."""
    host = socket.gethostname().split(".")[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 * 3 // 4
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(folder=folder, host=host, cores=os.cpu_count(), memory=memory)
    )
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    folder.chmod(0o755)
    munge = ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key"]
    for name in ("socket", "pid", "log", "seed"):
        munge.append(
            f"--{'pid' if name == 'pid' else name}{'' if name == 'socket' else '-file'}="
            f"{folder}/munge.{name}"
        )
    commands = [munge, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", host]]
    with contextlib.ExitStack() as stack:
        # A job forgets SLURM_CONF: only the file in its usual place is found by all.
        SYSTEM.parent.mkdir(exist_ok=True)
        SYSTEM.symlink_to(folder / "slurm.conf")
        stack.callback(SYSTEM.unlink)
        for command in commands:
            log = stack.enter_context(open(folder / f"{command[0]}.out", "w"))
            daemon = subprocess.Popen(command, stdout=log, stderr=log)
            stack.callback(daemon.wait, 20)
            stack.callback(daemon.terminate)
            time.sleep(2)
            if daemon.poll() is not None:
                sys.exit(f"{command[0]} did not start: {(folder / log.name).read_text()[-2000:]}")
        stack.callback(cancel)
        yield


def cancel() -> None:
    """Stop all jobs: those of an interrupted run would outlive the daemons."""
    subprocess.call(["scancel", "--user", str(os.getuid())])
    for _ in range(20):
        if not subprocess.check_output(["squeue", "--noheader"]).strip():
            return
        time.sleep(1)


def checkout(folder: Path) -> Path:
    """Copy the project's files and give the copy an environment with the plugin; return it."""
    project = folder / "project"
    listed = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True
    )
    for name in listed.splitlines():
        if not name.startswith("results/") and (ROOT / name).is_file():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name)
    uv = shutil.which("uv")
    pip = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    plugin = str(folder / "plugin")
    packages = ["snakemake-executor-plugin-slurm>=2.8,<3"]
    packages += ["snakemake-executor-plugin-slurm-jobstep", "throttler"]
    subprocess.check_call([*pip, "install", "-q", "--no-deps", "--target", plugin, *packages])
    # An environment of its own, so that the project's stays as it is.
    subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", project / ".venv"])
    (library,) = (project / ".venv" / "lib").glob("python*/site-packages")
    (library / "both.pth").write_text(f"{sysconfig.get_path('purelib')}\n{plugin}\n")
    return project


def differences(ours: Path, theirs: Path) -> tuple[int, list[str]]:
    """Return how many files the run here made and which of them differ or are missing there."""
    files = [path.relative_to(ours) for path in ours.rglob("*") if path.is_file()]
    made = [str(file) for file in files if not any(one in str(file) for one in MEASURED)]
    same = {
        name
        for name in made
        if (theirs / name).is_file() and filecmp.cmp(ours / name, theirs / name, shallow=False)
    }
    return len(made), sorted({*made} - same)


def main(local: str, *arguments: str) -> int:
    """Start, run, compare, stop; return the exit code."""
    missing = [f"there is no {tool}" for tool in TOOLS if not shutil.which(tool)]
    missing += ["only root may start slurmd"] * (os.getuid() != 0)
    missing += [f"{SYSTEM} is there, a SLURM of this machine's own"] * os.path.lexists(SYSTEM)
    if missing:
        print(f"Skipped: {missing[0]}.")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="slurm_") as name, cluster(Path(name)):
        project = checkout(Path(name))
        start = time.monotonic()
        quick = ["--configfile", "config.yaml", "workflow/config/quick.yaml"]
        profile = ["--workflow-profile", "profiles/slurm"]
        python = str(project / ".venv" / "bin" / "python")
        code = subprocess.call(
            [python, "-m", "snakemake", *arguments, *profile, *quick], cwd=project
        )
        print(f"The run took {time.monotonic() - start:.0f} s and ended with {code}.")
        if code:
            for log in ("slurmctld", "slurmd"):
                print(log, (Path(name) / f"{log}.out").read_text()[-3000:])
            return code
        made, different = differences(project / "results", Path(local).resolve())
        print(f"{made} files made, {len(different)} differ.", *different, sep="\n")
        return bool(different)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
