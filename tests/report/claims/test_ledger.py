"""What a claim may say, and what the papers' claims do."""

import pytest
import yaml
from claimentries import KNOWN, entry, exact_entry

from matrixdp import catalogue
from matrixdp.checks import InputError
from matrixdp.report import inputs
from matrixdp.report.claims import ledger


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (entry("laplas beats ppca"), "claim M0: row is 'laplas'; did you mean 'laplace'?"),
        (entry("regresion:laplace beats ppca"), "claim M0: experiment is 'regresion'; did you"),
        (entry("laplace beats ppca", metric="rmsd"), "claim M0: metric is 'rmsd'; did you mean"),
        (entry("laplace beats ppca", need="some"), "claim M0: need is 'some'"),
        (entry("laplace beats ppca", epsilon="1"), "claim M0: key of the test is 'epsilon'"),
        (entry("laplace tops ppca"), "claim M0: 'laplace tops ppca' is no comparison"),
        (entry("laplace within of ppca"), "is no comparison; write 'A beats B'"),
        (entry(), "claim M0 compares nothing"),
        (exact_entry(exact=["M99"]), "claim M0: check is 'M99'"),
        (exact_entry(theory=[]), "claim M0 has no single test"),
        (exact_entry(), "claim M0 has no single test"),
        ({**entry("laplace beats ppca"), "shown_by": ["tables/table9"]}, "claim M0: shown_by is"),
        ({**entry("laplace beats ppca"), "paper": "XYZ"}, "claim M0: paper is 'XYZ'"),
        ({"id": "M0"}, "claim M0 must have claim, id, paper"),
    ],
)
def test_a_claim_that_names_something_unknown_is_one_sentence(tmp_path, bad, sentence):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([bad]))
    with pytest.raises(InputError) as raised:
        ledger.read(KNOWN, path)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_claim_is_there_twice(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([entry("laplace beats ppca")] * 2))
    with pytest.raises(InputError, match="claim M0 is there twice"):
        ledger.read(KNOWN, path)


def test_every_claim_of_the_papers_is_in_the_ledger():
    ids = [claim.id for claim in ledger.read(KNOWN)]
    wanted = [*(f"M{i}" for i in range(1, 31)), *(f"I{i}" for i in range(1, 19)), "B1", "B2", "B3"]
    assert {*wanted} <= {*ids}


@pytest.mark.parametrize(
    ("name", "subject", "experiment"),
    [
        ("M12", "mvg_binary", "regression"),
        ("M13", "mvg_maxpnr", "regression"),
        ("M15", "mvg_thm3", "first_pc"),
        ("M18", "mvg_binary", "covariance"),
    ],
)
def test_the_best_row_of_a_table_is_held_against_all_others_that_it_prints(
    name, subject, experiment
):
    (claim,) = [one for one in ledger.read(KNOWN) if one.id == name]
    printed = inputs.read(f"published/{catalogue.experiment(experiment).results}", "")
    private = {*printed["mechanism"]} - {*catalogue.REFERENCES}
    # Where MVG as a whole is meant, its other row is no rival.
    rivals = {one for one in private if not one.startswith("mvg")} | (
        {"mvg_binary"} if name == "M13" else set()
    )
    assert {one.first.mechanism for one in claim.comparisons} == {subject}
    assert {one.second.mechanism for one in claim.comparisons} == rivals
    assert {one.kind for one in claim.comparisons} == {"beats"}
    assert claim.every
