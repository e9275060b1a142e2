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


def test_jobs_side_by_side_count_once_and_pauses_do_not(tmp_path):
    for name, seconds, end in (("trials/a", 10, 1000), ("trials/b", 6, 1004), ("c", 5, 5000)):
        benchmark(tmp_path, name, seconds, end)
    total, end = timing.span(tmp_path)
    assert total == 14 + 5
    assert end.timestamp() == 5000


def test_what_was_not_measured_took_no_time(tmp_path):
    benchmark(tmp_path, "trials/a", "-", 1000)
    total, end = timing.span(tmp_path)
    assert (total, end.timestamp()) == (0, 1000)


def test_no_or_broken_benchmarks(tmp_path):
    assert timing.span(tmp_path / "absent") is None
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(InputError, match=r"empty\.tsv cannot be read"):
        timing.span(tmp_path)
