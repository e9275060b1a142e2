"""One claim of a clean clone: its kept verdict, by the trials of its own rows alone."""

import re
import shlex
import shutil

import pandas as pd
import pytest
from packages import KEPT

from reproduction.report import findings

QUICK = ("--configfile", "workflow/config/quick.yaml")

#: By claim, the trials that it needs in a quick run.
ROWS = {
    "M16": {"nonprivate", "axes", "random", "mvg_thm2", "mvg_thm3"},
    "M14": {"nonprivate", "random", "zero", "mvg_binary", "mvg_maxpnr"},
    "I5": set(),
}


@pytest.mark.nightly
def test_a_claim_has_its_kept_verdict_by_its_own_rows(shipped, tmp_path, mirror):
    project = shipped.copy(tmp_path / "clone").with_environment()
    kept = findings.read_ledger(KEPT / "quick/claims.csv").set_index("id")
    (project.folder / "results/reference").mkdir(parents=True, exist_ok=True)
    for name in ("implied_noise/first_pc.csv", "claims.csv"):
        path = project.folder / "results/reference" / name
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(KEPT / name, path)
    for claim, rows in ROWS.items():
        target = f"results/quick/claims/{claim}.txt"
        trials = {
            path.name.removesuffix(".csv.gz")
            for path in project.folder.glob("results/quick/trials/*/default/*.csv.gz")
        }
        command = project.make_command(*QUICK, "-c2")
        outcome = project.run(*command, "claim", f"ID={claim}", DATA_MIRROR=mirror)
        assert outcome.code == 0, outcome.output
        new = {
            path.name.removesuffix(".csv.gz")
            for path in project.folder.glob("results/quick/trials/*/default/*.csv.gz")
        }
        assert new - trials <= rows <= new
        text = (project.folder / target).read_text(encoding="utf-8")
        assert text in outcome.output
        assert f"Verdict: {findings.text(kept.loc[claim])}, judged alone" in text
        assert findings.reasons(kept.loc[claim])[0] in text
        assert kept.loc[claim, "place"] in text
    # The printed error, and the noise that it would need, from the kept full run.
    text = (project.folder / "results/quick/claims/M16.txt").read_text(encoding="utf-8")
    assert "1.434 ± 0.192 times 0.1 in print" in text
    noise = pd.read_csv(KEPT / "implied_noise/first_pc.csv").set_index("mechanism")["noise_factor"]
    assert f"would need {noise['mvg_thm3']:.3f} times this noise" in text


@pytest.mark.nightly
def test_a_claim_on_stand_ins_ends_with_the_command_for_originals(shipped, tmp_path, mirror):
    project = shipped.copy(tmp_path / "my clone").with_environment()
    command = [*project.make_command(*QUICK, "-c2"), "claim", "ID=M14"]
    first = project.run(*command)
    assert first.code == 0, first.output
    assert "SIMULATED stand-ins take the place of liver." in first.output
    (words,) = re.findall("say `.venv/bin/snakemake (.*)`, and start", first.output)
    outcome = project.run(".venv/bin/snakemake", *shlex.split(words), DATA_MIRROR=mirror)
    assert outcome.code == 0, outcome.output
    second = project.run(*command, DATA_MIRROR=mirror)
    assert second.code == 0, second.output
    assert "SIMULATED" not in second.output
    verdicts = re.findall("^Verdict: .*", first.output + second.output, re.MULTILINE)
    assert len({*verdicts}) == 2


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("M99", "there is no claim M99; workflow/claims.yaml has M1, M2"),
        ("I15", "mnist is no part of this run; `make mnist` runs it"),
    ],
)
def test_a_claim_that_cannot_be_judged_says_why(shipped, claim, sentence):
    outcome = shipped.snakemake("-n", f"results/claims/{claim}.txt")
    assert outcome.code
    assert sentence in outcome.output
