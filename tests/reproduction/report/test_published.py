"""The kept numbers against those that the paper prints, typed a second time."""

from __future__ import annotations

import pytest

from reproduction.report import inputs

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
FILES = {f"published/{path.stem}": path for path in inputs.PUBLISHED.glob("*.csv")}
FACTORS = {"table3": "0.01", "table4": "0.1", "table5": "0.01", "section10_2": "0.01"}


@pytest.mark.parametrize("name", PRINTED)
def test_results_are_those_printed(name):
    table = inputs.read_input(f"published/{name}", FILES)
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


_MVG = "MVG using the {} allocation strategy"
#: The names of the rows in print, in their order.
METHODS = {
    "table3": [
        *("Non-private", "Random guess", _MVG.format("binary"), _MVG.format("max-PNR")),
        *("Gaussian (Dwork et al. [2])", "JL transform (Upadhyay [46])"),
        *("Laplace (Dwork et al. [3])", "Exponential (Blum et al. [104])"),
    ],
    "table4": [
        *("Non-private", "Random guess", "MVG with Theorem 2", "MVG with Theorem 3"),
        *("Gaussian (Dwork et al. [25])", "JL transform (Blocki et al. [42])"),
        *("Laplace (Dwork et al. [3])", "Exponential (Chaudhuri et al. [27])"),
    ],
    "table5": [
        *("Non-private", "Random guess", "MVG", "Gaussian (Dwork et al. [2])"),
        *("JL transform (Upadhyay [46])", "Laplace (Dwork et al. [3])"),
        "Exponential (Blum et al. [104])",
    ],
    "section10_2": ["Gaussian on ALT and Y alone", "JL transform on ALT and Y alone"],
}
METRICS = {"table3": "RMSE", "table4": "Delta rho", "table5": "RSS", "section10_2": "RMSE"}


@pytest.mark.parametrize("name", METHODS)
def test_rows_have_their_printed_names_places_and_units(name):
    table = inputs.read_input(f"published/{name}", FILES)
    for cell, printed in zip(table.to_dict("records"), METHODS[name], strict=True):
        work = f" ({cell['work']} [{cell['reference']}])" if cell["work"] else ""
        assert cell["method"] + work == printed
    rows = range(1, len(table) + 1)
    places = (
        ["Section 10.2"] * 2
        if name == "section10_2"
        else [f"Table {name[-1]}, row {n}" for n in rows]
    )
    assert table["place"].tolist() == places
    assert {*table["unit"]} == {METRICS[name]}
    assert table["qualifier"].tolist() == ["~" if m == "random" else "" for m in table["mechanism"]]
    assert [float(one) for one in table["epsilon"] if one != "-"] == [1.0] * int(
        table["interval"].ne("").sum()
    )
