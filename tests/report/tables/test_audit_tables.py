import pandas as pd
import pytest

from matrixdp.audit import canaries, releases, sensitivities
from matrixdp.checks import InputError
from matrixdp.experiments.study import Settings
from matrixdp.privacy.sensitivity import Box, Covariance, Identity
from matrixdp.report.tables import audit

QUERIES = {
    "identity": Identity(Box.cube(2, -1, 1), 20),
    "covariance": Covariance(Box.cube(2, -1, 1), 20),
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    settings = Settings(
        experiment="regression",
        seed=1,
        trials=1,
        epsilons=("1",),
        directions={"a": (0,), "iid": ()},
        taus=("0.75",),
    )
    for mechanism in ("mvg_binary", "analytic_gaussian", "laplace"):
        releases.run(mechanism, QUERIES, settings).to_csv(folder / f"{mechanism}.csv", index=False)
    # No query of the experiment that it can answer: a file without rows.
    nothing = releases.run("ppca", {"identity": QUERIES["identity"]}, settings)
    nothing.to_csv(folder / "ppca.csv", index=False)
    sensitivities.run("regression", QUERIES, 1).to_csv(folder / "sensitivities.csv", index=False)
    table = pd.DataFrame({name: ["x"] for name in ("canary", "mistake", "tool", "evidence")})
    table.assign(caught=True, control=True).to_csv(folder / "canaries.csv", index=False)
    return folder


def written(parts, out, canaries="canaries.csv"):
    names = ("mvg_binary", "analytic_gaussian", "laplace", "ppca")
    audit.write(
        [parts / f"{name}.csv" for name in names],
        sensitivities=[parts / "sensitivities.csv"],
        canaries=parts / canaries,
        results=out,
    )
    return {
        stem: (out / "tables" / f"{stem}.md").read_text()
        for stem in ("audit", "canaries", "sensitivities", "effective_noise")
    }


def test_the_tables_say_what_was_found(parts, tmp_path):
    tables = written(parts, tmp_path)
    full = pd.read_csv(tmp_path / "audit.csv")
    assert len(full) == 4
    assert "4 releases were judged, 0 failed" in tables["audit"]
    row = next(line for line in tables["audit"].splitlines() if "MVG, binary" in line)
    assert "| 2 | 0 (mu = " in row
    assert row.endswith("| exact curve | private but wasteful |")
    row = next(line for line in tables["audit"].splitlines() if "| Laplace" in line)
    assert "| 1 | 1 |" in row
    assert row.endswith("| maximal loss | private and tight |")
    assert "1 were tried, 0 failed" in tables["canaries"]
    assert tables["sensitivities"].count("holds") == 8
    rescaled = full["noise_std"] / full["kappa"]
    assert full["rescaled_std"].to_numpy() == pytest.approx(rescaled.to_numpy())
    assert "MVG, binary allocation | identity" in tables["effective_noise"]
    for stem in tables:
        assert (tmp_path / "tables" / f"{stem}.tex").read_text().count(r"\begin{tabular}") == 1


def test_failures_cannot_be_missed(parts, tmp_path):
    table = pd.read_csv(parts / "laplace.csv").assign(verdict="violated: the black box proves it")
    (tmp_path / "in").mkdir()
    for file in parts.glob("*.csv"):
        (tmp_path / "in" / file.name).write_bytes(file.read_bytes())
    table.to_csv(tmp_path / "in" / "laplace.csv", index=False)
    bad = pd.read_csv(parts / "canaries.csv").assign(caught=False)
    bad.to_csv(tmp_path / "in" / "canaries.csv", index=False)
    tables = written(tmp_path / "in", tmp_path / "out")
    assert tables["audit"].startswith("> **1 releases failed the audit")
    assert tables["canaries"].startswith("> **1 canaries were missed")
    assert "| NO |" in tables["canaries"]


def test_damaged_parts_are_named(parts, tmp_path):
    (tmp_path / "part.csv").write_text("a,b\n1,2\n")
    for broken in (tmp_path / "part.csv", tmp_path / "missing.csv"):
        with pytest.raises(InputError, match=f"{broken.name} .*make it again"):
            audit.write(
                [broken],
                sensitivities=[parts / "sensitivities.csv"],
                canaries=parts / "canaries.csv",
                results=tmp_path,
            )


def test_the_columns_that_are_read_are_those_that_are_written():
    assert set(audit.NEEDED["audit"]) <= set(releases.COLUMNS)
    assert set(audit.NEEDED["sensitivities"]) <= set(sensitivities.COLUMNS)
    assert set(audit.NEEDED["canaries"]) >= set(canaries.COLUMNS)
