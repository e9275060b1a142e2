from __future__ import annotations

import math
import os

import pytest

from matrixdp.checks import InputError
from matrixdp.report import timing

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def benchmark(folder, name, *rows):
    path = folder / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{s}\t0:00:01\t{rss}\t-\t-\t-\t0\t0\t0\t{cpu}\n" for s, rss, cpu in rows]
    path.write_text(HEADER + "".join(lines))


def test_sums_and_largest_memory(tmp_path):
    benchmarks = tmp_path / "benchmarks"
    benchmark(benchmarks, "trials/regression/laplace", (10, 100, 9), (5, 300, 4.5))
    benchmark(benchmarks, "trials/regression/imgm", ("-", "NA", "-"))
    benchmark(benchmarks, "trials/covariance/deep/laplace", (1.5, "-", "NA"))
    benchmark(benchmarks, "data/liver", (2, 50, 1))
    benchmark(benchmarks, "report", (3, 60, 2))
    (benchmarks / "data/old.tsv").write_text("s\tmax_rss\n7\t80\n")
    table = timing.collect(benchmarks).astype(object)
    table = table.where(table.notna(), "").astype(str)
    assert table.to_numpy().tolist() == [
        ["data", "liver", "", "1", "2.0", "1.0", "50.0"],
        ["data", "old", "", "1", "7.0", "", "80.0"],
        ["report", "", "", "1", "3.0", "2.0", "60.0"],
        ["trials", "covariance", "laplace", "1", "1.5", "", ""],
        ["trials", "regression", "imgm", "1", "", "", ""],
        ["trials", "regression", "laplace", "2", "15.0", "13.5", "300.0"],
    ]


def test_nothing_measured_is_not_zero(tmp_path):
    benchmark(tmp_path, "trials/regression/imgm", ("-", "-", "-"))
    assert math.isnan(timing.collect(tmp_path)["wall_s"].iloc[0])


def test_no_or_broken_benchmarks(tmp_path):
    with pytest.raises(InputError, match="run the workflow first"):
        timing.collect(tmp_path / "absent")
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(InputError, match=r"empty\.tsv cannot be read"):
        timing.collect(tmp_path)


def test_jobs_side_by_side_count_once_and_pauses_do_not(tmp_path):
    for name, took, end in (("a", 10, 1000), ("b", 6, 1004), ("c", 5, 5000)):
        path = tmp_path / f"{name}.tsv"
        path.write_text(f"s\tcpu_time\tmax_rss\n{took}\t1\t1\n")
        os.utime(path, (end, end))
    assert timing.elapsed(tmp_path) == 14 + 5
    assert timing.finished(tmp_path).timestamp() == 5000
