"""A run on a real SLURM of one node, with its own daemons, where one is installed."""

from __future__ import annotations

import contextlib
import getpass
import importlib.util
import os
import platform
import re
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import processes
import pytest
import tinyproject

pytestmark = pytest.mark.nightly

PLUGIN = "snakemake_executor_plugin_slurm"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo")

#: Nothing outside this folder and this machine has a part in it, and no rights are needed.
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={megabytes} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nobody listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A SLURM of one node: the variables with which a person on its login node works."""
    # Debian has the daemons where only root looks for them.
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if missing:
        pytest.skip(f"no SLURM is here, {', '.join(missing)} are missing: slurm-wlm and munge")
    if not importlib.util.find_spec(PLUGIN):
        pytest.skip("SLURM is here and its plugin is not: `make slurm`")
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    key, settings = folder / "munge.key", folder / "slurm.conf"
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o400)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    settings.write_text(
        CONFIGURATION.format(
            host=platform.node().partition(".")[0],
            ports=free_ports(2),
            user=getpass.getuser(),
            folder=folder,
            cores=os.cpu_count(),
            megabytes=memory // 2**20 * 9 // 10,
        )
    )
    # It wants folders that are its own, which those of a test are not.
    munge = ["munged", "--foreground", "--force", f"--key-file={key}"]
    munge += [f"--{name}={folder}/munge.{name}" for name in ("socket", "pid-file", "seed-file")]
    # A job's step hears of this SLURM in no other way: the plugin hands it no variable of SLURM.
    (folder / "bin").mkdir()
    step = f'SLURM_CONF={settings} exec {shutil.which("srun", path=path)} "$@"'
    tinyproject.script(folder / "bin/srun", step)
    variables = {"PATH": f"{folder}/bin{os.pathsep}{path}", "SLURM_CONF": str(settings)}
    with contextlib.ExitStack() as stack, (folder / "daemons.log").open("w") as log:
        for daemon in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            command = [shutil.which(daemon[0], path=path), *daemon[1:]]
            stack.enter_context(
                processes.started(*command, env={**os.environ, **variables}, **streams)
            )
        limit = time.monotonic() + 100
        nodes = ["sinfo", "--noheader"]
        everything = {"env": {**os.environ, **variables}, "capture_output": True, "text": True}
        while "idle" not in subprocess.run(nodes, **everything).stdout:
            logs = "".join(each.read_text() for each in sorted(folder.glob("*.log")))
            assert time.monotonic() < limit, logs
            time.sleep(0.5)
        yield variables


#: A trial that is killed the first time, as one is that takes too much memory.
KILLED_ONCE = """
import os, pathlib, signal
if not pathlib.Path("was_killed").exists():
    pathlib.Path("was_killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_trial_ends_its_group_and_the_same_command_goes_on(slurm, unrun, tmp_path):
    """Trials alone are jobs of SLURM; in the end nothing is left to do by the profile of here."""
    project = unrun.copy(tmp_path / "project").with_environment()
    # The nodes read it too: config.yaml has no such row.
    rows = {"regression": {"mechanisms": ["jl_exact", "laplace"]}}
    settings = tinyproject.overlay(tmp_path, experiments=rows)
    mechanism = project.folder / "workflow/reproduction/mechanisms/jl.py"
    with mechanism.open("a") as stream:
        stream.write(KILLED_ONCE)
    target = "results/summary/regression.csv"
    # As in docs/clusters.md, with shorter waits: the disk is this machine's.
    command = [".venv/bin/snakemake", "--workflow-profile", "profiles/slurm", *settings]
    command += ["--latency-wait", "5", "--slurm-init-seconds-before-status-checks", "5"]
    trials = project.folder / "results/trials/regression/default"
    for code, files in ((1, []), (0, ["jl_exact.csv.gz", "laplace.csv.gz"])):
        outcome = project.run(*command, "--", target, **slurm)
        assert outcome.code == code, outcome.output
        # Both trials are one job; data and summary are made where the run was started.
        assert len(re.findall(r"has been submitted with SLURM jobid \d+", outcome.output)) == 1
        assert sorted(file.name for file in trials.glob("*.csv.gz")) == files
    plan = project.plan(*settings, "--", target)
    assert plan.idle, plan.output
    # The control: an edit of the mechanism's code is something to do.
    with mechanism.open("a") as stream:
        stream.write("# A remark.\n")
    trial = "trials/regression/default/jl_exact"
    assert project.plan(*settings, "--", target).jobs == {trial, "summary/regression"}
