"""The memory of a machine, of a container and of control groups in it."""

import os

import pytest

from reproduction import machine

#: By case: the groups of this process, the files of limits below /sys/fs/cgroup, and the memory.
CASES = {
    "v2, the root": ("0::/", {"memory.max": 2}, 2),
    "v2, our group": ("0::/user/job", {"memory.max": "max", "user/job/memory.max": 2}, 2),
    "v2, one above": ("0::/user/job", {"user/memory.max": 2, "user/job/memory.max": 3}, 2),
    "v2, a path of the host": ("0::/docker/1", {"memory.max": 2}, 2),
    "v1, the root": ("4:memory:/", {"memory/memory.limit_in_bytes": 2}, 2),
    "v1, our group": ("4:cpu,memory:/job", {"memory/job/memory.limit_in_bytes": 2}, 2),
    "both": ("4:memory:/job\n0::/", {"memory/job/memory.limit_in_bytes": 2}, 2),
    "of another kind": ("4:cpu:/job", {"cpu/job/memory.limit_in_bytes": 2}, None),
    "no limit": ("0::/", {"memory.max": "max"}, None),
    "no groups": (None, {}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_least_limit_of_all_groups_around_counts(case, tmp_path):
    groups, limits, gigabytes = CASES[case]
    if groups is not None:
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(f"{groups}\n1:name=systemd:/\n")
    for name, limit in limits.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{limit if isinstance(limit, str) else limit * 2**30}\n")
    assert machine.memory(tmp_path) == (gigabytes and gigabytes * 1024)


def test_no_more_than_the_machine_has():
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    assert 0 < machine.memory() <= total
