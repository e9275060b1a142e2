"""The kept numbers against those that the paper prints, typed a second time."""

from __future__ import annotations

from decimal import Decimal

import pytest

from matrixdp.report import inputs

#: Mechanism -> value, half-width; in the order of the paper's rows.
PRINTED = {
    "table3": {
        "nonprivate": "1.226",
        "random": "3.989",
        "mvg_binary": "1.624 .026",
        "mvg_maxpnr": "1.611 .046",
        "gaussian_2006": "1.913 .069",
        "jl_2012": "1.682 .015",
        "laplace": "2.482 .189",
        "knorm_frob": "2.202 .721",
    },
    "table4": {
        "nonprivate": "0",
        "random": "4.370",
        "mvg_thm2": "2.138 .192",
        "mvg_thm3": "1.434 .192",
        "analyze_gauss": "2.290 .185",
        "jl_2012": "2.258 .186",
        "laplace": "2.432 .177",
        "ppca": "1.742 .188",
    },
    "table5": {
        "nonprivate": "0",
        "random": "12.393",
        "mvg_binary": "6.657 .193",
        "gaussian_2006": "7.029 .216",
        "jl_2012": "6.718 .229",
        "laplace": "7.109 .211",
        "knorm_frob": "7.223 .211",
    },
    "section10_2": {"gaussian_2006": "2.538 .065", "jl_2012": "2.863 .022"},
}
FACTORS = {"table3": "0.01", "table4": "0.1", "table5": "0.01", "section10_2": "0.01"}


@pytest.mark.parametrize("name", PRINTED)
def test_results_are_those_printed(name):
    table = inputs.read(f"published/{name}", ".")
    assert table["mechanism"].tolist() == [*PRINTED[name]]
    for row in table.to_dict("records"):
        value, _, interval = PRINTED[name][row["mechanism"]].partition(" ")
        assert row["value"] == value
        assert row["interval"].removeprefix("0") == interval
        assert row["unit_factor"] == FACTORS[name]
        assert row["place"]
        pure = row["mechanism"] in ("laplace", "knorm_frob", "ppca")
        private = row["interval"] != ""
        assert row["delta"] == ("-" if not private else "0" if pure else "1/n")


def value(table, mechanism):
    row = inputs.read(f"published/{table}", ".").set_index("mechanism").loc[mechanism]
    return Decimal(row["value"]) * Decimal(row["unit_factor"])


def test_the_text_agrees_with_the_tables():
    """Differences in the text are the tables', rounded as printed."""
    text = inputs.read("published/text", ".").set_index(["experiment", "item"])["value"]
    best = {
        "regression": value("table3", "mvg_binary"),
        "covariance": value("table5", "mvg_binary"),
    }
    for experiment, item, cell in (
        ("regression", "Gaussian above MVG", value("table3", "gaussian_2006")),
        ("regression", "JL above MVG", value("table3", "jl_2012")),
        ("covariance", "Gaussian above MVG", value("table5", "gaussian_2006")),
        ("covariance", "JL above MVG", value("table5", "jl_2012")),
        ("covariance", "Laplace above MVG", value("table5", "laplace")),
        ("covariance", "exponential above MVG", value("table5", "knorm_frob")),
    ):
        said = Decimal(text[experiment, item])
        assert (cell - best[experiment]).quantize(said) == said, (experiment, item)
    said = Decimal(text["regression", "MVG above non-private"])
    assert (best["regression"] - value("table3", "nonprivate")).quantize(said) == said
    for item, mechanism in (("MVG with Theorem 3", "mvg_thm3"), ("exponential", "ppca")):
        assert Decimal(text["first_pc", item]) == value("table4", mechanism)


def test_set_ups_cover_the_three_experiments():
    table = inputs.read("published/table2", ".").pivot(
        index="item", columns="experiment", values="value"
    )
    assert table.shape == (9, 3)
    assert table.loc["samples"].to_dict() == {
        "regression": "248",
        "first_pc": "10176",
        "covariance": "2126",
    }
    assert (table != "").all(axis=None)


def test_set_ups_of_the_imgm_paper_are_those_printed():
    table = inputs.read("published/table1", ".").pivot(
        index="item", columns="experiment", values="value"
    )
    assert table.shape == (8, 6)
    lots = {"mnist": "1,024", "cifar10": "1,024", "cora": "200", "adult": "512"}
    assert table.loc["lot"].to_dict() == lots | {"svhn": "1024", "imdb": "256"}
    assert table.loc["type1_epochs"].tolist() == ["50", "30", "50", "-", "100", "60"]
    assert table.loc["type2_epochs"].tolist() == ["-", "50", "-", "10", "50", "20"]
    assert table["cora"].tolist() == [
        *("-", "1,436 x 16", "200", "GCN-Mixed", "1,000", "1,140", "50", "-"),
    ]
    assert table.loc["feature_shape", "imdb"] == "256 x 150"
    assert table.loc["testing", "adult"] == "16,281"
