from __future__ import annotations

import os

import pytest

from matrixdp.checks import InputError
from reproduction.report import timing


def benchmark(folder, name, seconds, end):
    path = folder / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tmax_rss\tcpu_time\n{seconds}\t0:00:01\t-\tNA\n")
    os.utime(path, (end, end))
    return path


def test_jobs_side_by_side_count_once_and_pauses_do_not(tmp_path):
    jobs = (("trials/a", 10, 1000), ("trials/b", 6, 1004), ("c", 5, 5000))
    total, end = timing.span([benchmark(tmp_path, *job) for job in jobs])
    assert total == 14 + 5
    assert end.timestamp() == 5000


def test_what_was_not_measured_took_no_time(tmp_path):
    total, end = timing.span([benchmark(tmp_path, "trials/a", "-", 1000)])
    assert (total, end.timestamp()) == (0, 1000)


def test_only_jobs_of_the_run_count_whatever_else_lies_beside(tmp_path):
    own = benchmark(tmp_path, "trials/a", 10, 1000)
    benchmark(tmp_path, "trials/removed", 60, 5000)
    (tmp_path / "notes.tsv").write_text("")
    total, end = timing.span([own, tmp_path / "trials" / "not_run.tsv"])
    assert (total, end.timestamp()) == (10, 1000)


def test_no_or_broken_benchmarks(tmp_path):
    assert timing.span([tmp_path / "absent.tsv"]) is None
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(InputError, match=r"empty\.tsv cannot be read"):
        timing.span([tmp_path / "empty.tsv"])
