"""What an earlier job has computed is taken over where it rests on the same, and nowhere else."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from matrixdp import cli, config, files, stamps
from matrixdp.experiments import study

SHIPPED = yaml.safe_load((Path(__file__).parents[1] / "config.yaml").read_text())
ROWS = ["nonprivate", "mvg_binary", "jl_exact"]


class Run:
    """A run's folder, and the epsilons that its trials were computed at."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.computed = folder, []
        monkeypatch.setattr(study, "trials", self.noted(study.trials))
        self.settings()
        self.data()

    def noted(self, whole):
        def run(part, names, folder):
            self.computed.append((list(names), part.get("epsilons")))
            return whole(part, names, folder)

        return run

    def settings(self, epsilons=("0.1", "10"), **changes):
        own = {**SHIPPED["experiments"]["regression"], "trials_for_claims": 5, "mechanisms": ROWS}
        own |= {"epsilons": list(epsilons), "trials": changes.pop("trials", 3)}
        given = {"table_epsilon": epsilons[0], **changes}
        config.write(
            config.resolve({**SHIPPED, **given, "experiments": {"regression": own}}), self.folder
        )

    def data(self, seed="7"):
        out = self.folder / "data" / "liver"
        assert (
            cli.main(["data", "liver", "--source=simulated", f"--seed={seed}", f"--out={out}"]) == 0
        )

    def trials(self, *rows):
        """Run the trials of rows as a job does, and return their bytes and what was computed."""
        out = self.folder / "trials" / "regression" / "default"
        shutil.rmtree(out, ignore_errors=True)  # as Snakemake does before a job
        self.computed = []
        assert (
            cli.main(["trials", "regression", *rows, f"--results={self.folder}", f"--out={out}"])
            == 0
        )
        return [(out / f"{row}.csv.gz").read_bytes() for row in rows], self.computed

    def forget(self):
        shutil.rmtree(self.folder / "stamps")


@pytest.fixture
def run(tmp_path, monkeypatch):
    return Run(tmp_path / "results", monkeypatch)


def test_one_more_epsilon_is_computed_alone_to_the_same_bytes(run):
    whole = [(ROWS, ["0.1", "10"])]
    first = run.trials(*ROWS)
    assert first[1] == whole
    assert run.trials(*ROWS) == (first[0], [])
    run.settings(["0.1", "1", "10"])
    more, computed = run.trials(*ROWS)
    # Between the others; claims are judged at the first one.
    assert computed == [(["mvg_binary", "jl_exact"], ["1"])]
    run.forget()
    assert run.trials(*ROWS)[0] == more != first[0]
    run.settings()
    assert run.trials(*ROWS) == (first[0], [])


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"trials": 4}, {"delta": "0.001"}, {"taus": {"grid": [0.75, 0.9]}}],
)
def test_nothing_is_taken_over_from_other_settings(changes, run):
    run.trials("mvg_binary")
    run.settings(**changes)
    made, computed = run.trials("mvg_binary")
    assert computed == [(["mvg_binary"], ["0.1", "10"])]
    run.forget()
    assert run.trials("mvg_binary")[0] == made


def test_the_epsilon_of_the_tables_has_trials_of_its_own(run):
    run.trials("jl_exact")
    run.settings(["0.1", "10"], table_epsilon="10")
    made, computed = run.trials("jl_exact")
    assert computed == [(["jl_exact"], ["0.1", "10"])]
    run.forget()
    assert run.trials("jl_exact")[0] == made


def test_nothing_is_taken_over_from_other_data_or_an_edited_file(run):
    first, _ = run.trials("jl_exact")
    run.data(seed="8")
    assert run.trials("jl_exact")[1]
    run.data()
    assert run.trials("jl_exact")[0] == first
    # What only says where the data came from changes nothing.
    file = run.folder / "data" / "liver" / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "requested": "auto"}))
    assert run.trials("jl_exact") == (first, [])
    kept = run.folder / "stamps" / "trials" / "regression" / "default" / "jl_exact.csv.gz"
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    made, computed = run.trials("jl_exact")
    assert made == first
    assert computed


def test_files_are_restored_together_or_not_at_all(tmp_path):
    (tmp_path / "settings.yaml").touch()
    places = [tmp_path / "audit" / name for name in ("a.csv", "b.csv")]
    assert not files.restored("x", *places)
    for place in places:
        files.write_text(place, place.name)
    assert not files.restored("x", *places)
    files.keep("x", *places)
    assert not files.restored("y", *places)
    for _ in range(2):
        shutil.rmtree(tmp_path / "audit")
        assert files.restored("x", *places)
        assert [place.read_text() for place in places] == ["a.csv", "b.csv"]
        stamps.check(places[0])
    (tmp_path / "stamps" / "audit" / "b.csv").unlink()
    shutil.rmtree(tmp_path / "audit")
    assert not files.restored("x", *places)
    assert not places[0].exists()


def test_a_stamp_lies_in_the_folder_of_the_run_that_the_file_is_of(tmp_path):
    (tmp_path / "settings.yaml").touch()
    for name in ("release/a.csv", "deep/er/trials/a.csv", "a.csv"):
        files.write_text(tmp_path / name, "a\n1\n")
        assert not (tmp_path / "stamps").exists()
    files.write_text(tmp_path / "trials" / "a.csv", "a\n1\n")
    assert (tmp_path / "stamps" / "trials" / "a.csv.json").is_file()
