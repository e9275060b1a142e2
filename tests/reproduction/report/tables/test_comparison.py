from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import runfiles
from samplerun import CONFIG, put, settle
from trialrows import around, reason, trials

from matrixdp.checks import InputError
from reproduction import catalogue, job_settings
from reproduction.cli import latex
from reproduction.report import comparisons, markup, summary, tables

EXPERIMENTS = {3: "regression", 4: "first_pc", 5: "covariance"}
DIRECTIONAL = "Directional Gaussian, exactly calibrated"

COLUMNS = [
    *(
        "method",
        "mechanism",
        "configuration",
        "direction",
        "published",
        "published_ci",
        "unit_factor",
    ),
    *("published_value", "mean", "ci95", "ratio", "noise_factor"),
    *("base", "over_base", "over_base_ci", "published_over_base", "published_over_base_ci"),
    *("epsilon", "delta", "epsilon_delivered", "audit_status", "epsilon_least", "mu", "noise_std"),
    *("n_trials", "data_status"),
    *("reading", "verdict", "against_paper", "against_baseline"),
    "note",
]


@pytest.fixture
def make(saved, tmp_path):
    """Return a function from trial rows to the table as CSV, Markdown and LaTeX."""

    def run(number, *parts, **settings):
        file = tmp_path / f"summary/{EXPERIMENTS[number]}.csv"
        summary.write([saved(*parts)], file)
        against = tmp_path / f"comparisons/{EXPERIMENTS[number]}.csv"
        known = [part for part in parts if part["metric"].iloc[0] in catalogue.metrics()]
        fixed = job_settings.untuned({**CONFIG, **settings})
        comparisons.write([saved(*known, name="compared")], file, against, fixed)
        settle(tmp_path, experiments={EXPERIMENTS[number]: {}}, **settings)
        runfiles.write(tmp_path, f"tables/table{number}")
        stem = tmp_path / "tables" / f"table{number}"
        text = {"published": str, "published_ci": str, "epsilon": str}
        table = pd.read_csv(f"{stem}.csv", dtype=text)
        latex.run([f"{stem}.json"])
        return table, *((stem.with_suffix(end).read_text()) for end in (".md", ".tex"))

    return run


def regression():
    """Return trials of Table 3 with known means."""
    private = {
        "epsilon_delivered": 0.0,
        "mu": 2.6e-4,
        "epsilon_exact": True,
        "noise_std": 1800.0,
    }
    parts = [
        trials("nonprivate", around(0.18, 0.004), epsilon="", delta=np.nan),
        trials("random", around(0.62, 0.005), epsilon="", delta=np.nan),
        trials("zero", around(0.198, 0.005), epsilon="", delta=np.nan),
        trials("laplace", around(0.2, 0.004), delta=0, epsilon_delivered=1.0, noise_std=17.0),
        trials("imgm", around(0.201, 0.004), epsilon_delivered=1.0, mu=0.4, epsilon_exact=True),
        reason("gaussian_2006", "no guarantee: epsilon 1 is past the crossover"),
        reason("goe", "skipped: it answers covariance queries", epsilon="", delta=np.nan),
    ]
    for direction, shift in (("a", 0.0), ("b", 1.0)):
        for tau, tried in (("0.55", 0.2), ("0.75", 0.3), ("0.95", 0.4)):
            at = {"configuration": f"tau={tau}", "direction": direction} | private
            for mechanism in ("mvg_binary", "directional_gaussian"):
                parts.append(trials(mechanism, around(shift + tried, 0.004), **at))
                parts.append(trials(mechanism, [shift + tried], phase="select", **at))
    return parts


def row(table, method):
    found = table[table["method"] == method]
    assert len(found) == 1
    return found.iloc[0]


def test_rows_are_the_papers_in_its_order_then_ours(make):
    table, *_ = make(3, *regression())
    assert table["method"].tolist() == [
        "Non-private",
        "Random guess",
        "MVG using the binary allocation strategy",
        "MVG using the max-PNR allocation strategy",
        "Gaussian (Dwork et al. [2])",
        "JL transform (Upadhyay [46])",
        "Laplace (Dwork et al. [3])",
        "Exponential (Blum et al. [104])",
        "MVG using the binary allocation strategy, fixed in public",
        "Zero predictor",
        "IMGM",
        DIRECTIONAL,
        f"{DIRECTIONAL}, fixed in public",
    ]
    assert table["mechanism"].tolist()[:8] == [
        *("nonprivate", "random", "mvg_binary", "mvg_maxpnr"),
        *("gaussian_2006", "jl_2012", "laplace", "knorm_frob"),
    ]
    assert list(table.columns) == COLUMNS


def test_a_public_tau_has_a_row_of_its_own(make):
    table, *_ = make(3, *regression())
    fixed = row(table, "MVG using the binary allocation strategy, fixed in public")
    assert (fixed["configuration"], fixed["direction"]) == ("tau=0.75", "a")
    assert fixed["mean"] == pytest.approx(0.3)
    assert pd.isna(fixed["published"])
    assert pd.isna(fixed["verdict"])
    assert fixed["against_baseline"] == "worse"
    table, *_ = make(3, *regression(), tau_untuned="0.95")
    fixed = row(table, "MVG using the binary allocation strategy, fixed in public")
    assert fixed["mean"] == pytest.approx(0.4)
    # Whatever the public value is, its verdict is not lost.
    assert fixed["against_baseline"] == "worse"


def test_rows_without_a_result_say_why(make):
    table, markdown, _ = make(3, *regression())
    assert row(table, "Gaussian (Dwork et al. [2])")["verdict"] == "no guarantee"
    assert "crossover" in row(table, "Gaussian (Dwork et al. [2])")["note"]
    missing = row(table, "JL transform (Upadhyay [46])")
    assert (missing["verdict"], missing["note"]) == ("not run", "not run at epsilon 1")
    assert pd.isna(missing["mean"])
    assert "goe" not in set(table["mechanism"])
    assert re.search(
        r"JL transform \(Upadhyay \[46\]\); here: .* 0\.2649 \(1\.682 ± 0\.015\) \|.* not run \|",
        markdown,
    )


@pytest.mark.parametrize("number", [3, 4, 5])
def test_a_row_says_what_runs_in_place_of_what_the_paper_cites(make, number):
    fields = {"experiment": EXPERIMENTS[number]}
    fields["metric"] = {3: "rmse", 4: "delta_rho", 5: "rss"}[number]
    parts = [trials(name, around(0.2, 0.004), **fields) for name in ("jl_2012", "knorm_frob")]
    _, markdown, _ = make(number, *parts)
    for row_of, instead in (
        ("Upadhyay [46]", "Blocki et al., 2012"),
        ("Blum et al. [104]", "K-norm mechanism"),
    ):
        assert markdown.count(f"({row_of}); here: {instead} |") == (number != 4)
    # Table 4 cites what runs, and rows beyond the paper are called by what they are.
    assert markdown.count("; here:") == (0 if number == 4 else 2)


def test_an_epsilon_that_is_not_in_the_grid(make):
    table, markdown, _ = make(3, *regression(), table_epsilon="7")
    assert set(table["verdict"].dropna()) == {"not run"}
    assert row(table, "Laplace (Dwork et al. [3])")["verdict"] == "not run"
    assert row(table, "Random guess")["against_paper"] == "more error"
    assert row(table, "IMGM")["note"] == "not run at epsilon 7"
    assert "| IMGM |" in markdown


def test_what_the_paper_prints_at_another_epsilon_is_not_compared(make):
    table, *_ = make(3, *regression())
    assert row(table, "Laplace (Dwork et al. [3])")["against_paper"] == "less error"
    other = trials("laplace", around(0.2, 0.004), epsilon="0.3", epsilon_delivered=0.3)
    table, markdown, _ = make(3, *regression(), other, table_epsilon="0.3")
    laplace = row(table, "Laplace (Dwork et al. [3])")
    assert pd.isna(laplace["against_paper"])
    assert laplace["against_baseline"] == "worse"
    assert "at epsilon 1 is not compared" in markdown


def test_a_reading_that_was_not_run(make):
    table, _, latex = make(3, *regression(), reading="zeta=literal")
    assert set(table["verdict"]) == {"not run"}
    assert set(table["reading"]) == {"zeta=literal"}
    assert "reading zeta=literal" in latex


def test_another_metric_has_no_place_in_the_table(make):
    other = trials("laplace", around(9.0, 1.0), metric="absolute error")
    table, *_ = make(3, other, trials("laplace", around(0.2, 0.01), epsilon_delivered=1.0))
    assert row(table, "Laplace (Dwork et al. [3])")["mean"] == pytest.approx(0.2)


def test_a_variant_nobody_chose_is_not_shown(make):
    parts = [
        trials("jl_2012", around(0.2, 0.01), configuration=f"sketch_multiple={rows}")
        for rows in (2, 4)
    ]
    jl = row(make(3, *parts)[0], "JL transform (Upadhyay [46])")
    assert jl["verdict"] == "not run"
    assert "no select trials" in jl["note"]


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        (0.1434, "within"),
        (0.1702, "within"),
        (0.1703, "more error"),
        (0.1166, "within"),
        (0.1165, "less error"),
    ],
)
def test_verdicts_of_table_4(make, mean, expected):
    # 0.0192 of the paper and 0.0188 of ours make 0.02687 for the difference.
    at = {
        "experiment": "first_pc",
        "metric": "delta_rho",
        "direction": "a",
        "epsilon_delivered": 0.5,
    }
    table, *_ = make(4, trials("mvg_thm3", around(mean, 0.0188), configuration="tau=0.55", **at))
    assert row(table, "MVG with Theorem 3")["against_paper"] == expected
    assert row(table, "MVG with Theorem 3")["published_value"] == 0.1434


def test_more_epsilon_than_promised_is_not_private(make):
    within = trials("laplace", around(0.02482, 0.001), epsilon_delivered=1.0, delta=0)
    assert pd.isna(row(make(3, within)[0], "Laplace (Dwork et al. [3])")["verdict"])
    over = within.assign(epsilon_delivered=1.001)
    assert row(make(3, over)[0], "Laplace (Dwork et al. [3])")["verdict"] == "not private"
    said = within.assign(note="not private: gamma of the data")
    assert row(make(3, said)[0], "Laplace (Dwork et al. [3])")["verdict"] == "not private"


def test_simulated_data_have_no_verdict_and_are_shouted(make):
    table, markdown, latex = make(3, *[p.assign(data_status="simulated") for p in regression()])
    assert table[["against_paper", "against_baseline"]].isna().all(axis=None)
    assert set(table["data_status"]) == {"simulated"}
    assert table["mean"].notna().any()
    assert markdown.startswith("> **SIMULATED DATA.")
    assert r"\caption{\textbf{SIMULATED DATA." in latex
    _, markdown, latex = make(3, *regression())
    assert "SIMULATED" not in markdown + latex
    assert "original data" in markdown


@pytest.mark.parametrize(
    ("ours", "against_paper", "against_baseline"),
    [
        (0.03, "more error", "at the baseline"),
        (0.0273, "within", "better"),
        (0.02, "less error", "better"),
    ],
)
def test_verdicts_of_table_5_do_without_its_unit(make, ours, against_paper, against_baseline):
    """The paper's Laplace is 7.109 of 12.393; chance is here 0.047 and shares the trials."""
    at = {"experiment": "covariance", "metric": "rss"}
    free = {"epsilon": "", "delta": np.nan}
    shift = np.where(np.arange(100) % 4 < 2, 0.1, -0.1)
    noise = shift if against_baseline == "at the baseline" else 0.0
    table, markdown, _ = make(
        5,
        trials("nonprivate", np.full(100, 1e-30), **at, **free),
        trials("random", around(0.03 if noise is shift else 0.047, 0.001), **at, **free),
        trials("laplace", around(ours, 0.0002) + noise, epsilon_delivered=1.0, **at),
    )
    laplace = row(table, "Laplace (Dwork et al. [3])")
    assert laplace["base"] == "random"
    assert laplace["published_over_base"] == pytest.approx(7.109 / 12.393)
    assert laplace["against_baseline"] == against_baseline
    if noise is not shift:
        assert laplace["against_paper"] == against_paper
    assert "the difference of ratios to random guess." in markdown


def test_few_trials_are_held_against_nothing(make):
    for trials_, said in ((8, False), (10, True)):
        table, markdown, _ = make(
            3, *[p[p["trial"].lt(trials_)] for p in regression() if p["trial"].notna().all()]
        )
        assert table["against_paper"].notna().any() == said
        assert table["against_baseline"].notna().any() == said
        assert ("Against the paper: by" in markdown) == said
        assert markdown.startswith("### None of the paper's 2 ") == said


def test_table_4_has_no_conjecture_and_no_ratio_to_zero(make):
    at = {"experiment": "first_pc", "metric": "delta_rho"}
    nothing = trials("nonprivate", np.full(100, -3e-17), epsilon="", delta=np.nan, **at)
    table, markdown, _ = make(
        4, nothing, trials("laplace", around(1e-5, 1e-6), epsilon_delivered=1.0, **at)
    )
    assert np.isnan(row(table, "Non-private")["ratio"])
    assert row(table, "Non-private")["against_paper"] == "within"
    assert "| Non-private | 0 (0) | 0 | 0 |" in markdown
    # No unit is in doubt, and values are compared as they are.
    assert row(table, "Laplace (Dwork et al. [3])")["against_paper"] == "less error"


def test_the_noise_for_a_printed_error_stands_beside_the_papers_rows_alone(make, tmp_path):
    results = regression()
    table, markdown, _ = make(3, *results)
    assert table["noise_factor"].isna().all()
    assert "Noise for" not in markdown
    rows = (
        "mechanism,configuration,direction,noise_factor\nlaplace,,,209.3\nanalytic_gaussian,,,3\n"
    )
    put(tmp_path / "implied_noise/regression.csv", rows)
    table, markdown, _ = make(3, *results)
    factors = table.set_index("mechanism")["noise_factor"].dropna()
    assert factors.to_dict() == {"laplace": 209.3}
    assert "| Noise for the printed error |" in markdown
    assert markdown.count(" 209 times |") == 1
    assert "We do not know why" in markdown


def test_markdown_is_readable(make):
    _, markdown, _ = make(3, *regression())
    lines = markdown.splitlines()
    start = lines.index(
        "| Method | Paper (RMSE; printed, 1e-2) | Ours (RMSE) | Paper / non-private "
        "| Ours / non-private | Against the paper | Against baseline | Tight epsilon |"
    )
    assert lines[start + 3].startswith("| Random guess | ~0.6282 (~3.989) |")
    assert lines[start + 4] == (
        "| MVG using the binary allocation strategy (tau = 0.55) | 0.2557 (1.624 ± 0.026) "
        "| 0.2000 ± 0.0040 "
        "| 1.325 ± 0.021 | 1.111 ± 0.033 | less error | worse | 0 (mu = 2.6e-4) |"
    )
    assert lines[start + 10].startswith("| **Beyond the paper** |")
    assert len({line.count("|") for line in lines[start:]} - {0}) == 1
    for said in ("100 trials", "epsilon = 1", "delta = 0.00403 (1/248)", "original data"):
        assert said in markdown


def test_an_upper_bound_of_mu_is_shown_as_one(make):
    part = trials(
        "mvg_maxpnr", around(0.2, 0.01), epsilon_delivered=0.1, mu=0.02, epsilon_exact=False
    )
    assert "0.1 (mu ≤ 0.02)" in make(3, part)[1]


def test_latex_is_escaped_and_balanced(make, monkeypatch):
    label = catalogue.label
    shown = {"imgm": r"A_b & 50% #1 {x}^2 \z ~ $"}
    monkeypatch.setattr(catalogue, "label", lambda name: shown.get(name) or label(name))
    _, _, latex = make(3, *regression())
    assert r"A\_b \& 50\% \#1 \{x\}\textasciicircum{}2 \textbackslash{}z $\sim$ \$" in latex
    body = latex[latex.index(r"\toprule") : latex.index(r"\bottomrule")]
    plain = re.sub(r"\\[&{}$#%_]", "", body)
    rows = [
        line for line in plain.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert len(rows) == 1 + 8 + 5
    assert {line.count("&") for line in rows} == {7}
    assert body.count(r"\midrule") == 2
    assert plain.count("$") % 2 == 0
    assert plain.count("{") == plain.count("}")
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2
    assert r"($\tau$ = 0.55)" in latex
    assert r"0 ($\mu$ = 2.6e-4)" in latex
    assert latex.isascii()


def test_unknown_recipes_and_missing_inputs_are_refused(make, tmp_path):
    with pytest.raises(InputError, match="table is 'experimnet'; did you mean 'experiment'"):
        tables.write("experimnet", {}, tmp_path / "table3.csv")
    make(3, *regression())
    files = runfiles.files(tmp_path, "tables/table3")
    for name in ("settings", "comparisons/regression"):
        rest = {key: path for key, path in files.items() if key != name}
        with pytest.raises(InputError, match=f"^one of .* lacks '{name}'; delete it and run"):
            tables.write("experiment", rest, tmp_path / "other/table3.csv")
    assert not (tmp_path / "other").exists()


def test_a_table_names_what_it_is_made_from(make, tmp_path):
    make(3, *regression())
    known = markup.read(tmp_path / "tables/table3.json").inputs
    assert [*known] == [
        *("summary/regression", "comparisons/regression", "published/table3", "settings"),
    ]


def test_an_experiment_of_no_paper_has_our_rows_alone(saved, tmp_path):
    at = {"experiment": "of_tomorrow", "metric": "rmse"}
    parts = [trials("laplace", around(0.2, 0.01), **at), trials("nonprivate", [0.1, 0.2], **at)]
    parts.append(reason("imgm", "no guarantee: too small", **at))
    files = [saved(*parts)], tmp_path / "summary/of_tomorrow.csv"
    summary.write(*files)
    comparisons.write(*files, tmp_path / "comparisons/of_tomorrow.csv")
    settle(tmp_path, experiments={"of_tomorrow": {}})
    runfiles.write(tmp_path, "tables/of_tomorrow")
    markdown = (tmp_path / "tables/of_tomorrow.md").read_text()
    assert markdown.startswith("**of_tomorrow.** Means over 2 to 100 trials")
    header = "| Method | Ours (RMSE) | Ours / non-private | Against baseline | Tight epsilon |"
    assert header in markdown
    assert "| IMGM |  |  | no guarantee |  |" in markdown
    methods = pd.read_csv(tmp_path / "tables/of_tomorrow.csv")["method"]
    assert methods.tolist() == ["Non-private", "IMGM", "Laplace"]


def test_a_true_epsilon_that_nothing_certifies_is_marked(make, tmp_path):
    certified = ("imgm", "mvg_binary", "directional_gaussian")
    lines = ["mechanism,verdict", "laplace,declared: a doubt"]
    lines += [f"{name},certified" for name in certified]
    put(tmp_path / "audit/regression.csv", "\n".join([*lines, ""]))
    table, *texts = make(3, *regression())
    found = table.set_index("mechanism")["audit_status"]
    assert found["laplace"] == "declared"
    assert {*found[[*certified]]} == {"certified"}
    assert found.drop(["laplace", *certified]).isna().all()
    for text in texts:
        assert text.count("(declared only)") == 1
        assert re.search(r"Laplace.*1 \(declared only\)", text)


@pytest.mark.parametrize("name", ["imgm", "laplace"])
def test_a_refuted_row_is_not_private_and_counts_nowhere(make, tmp_path, name):
    """The best row of all, of the paper or beyond it."""
    put(
        tmp_path / "audit/regression.csv",
        "mechanism,verdict,epsilon,epsilon_attained\n"
        + f"{name},refuted: a replay on two neighbours shows it,1,7.5\n",
    )
    parts = regression()
    best = {"value": around(0.1, 0.004)}
    parts = [part.assign(**best) if {*part["mechanism"]} == {name} else part for part in parts]
    table, *texts = make(3, *parts)
    (row,) = table[table["mechanism"].eq(name)].itertuples()
    assert (row.audit_status, row.epsilon_least) == ("refuted", 7.5)
    assert row.verdict == "not private: epsilon at least 7.5"
    assert pd.isna(row.against_baseline)
    assert pd.isna(row.against_paper)
    for text in texts:
        # Beside the verdict, and in place of an epsilon.
        assert len(re.findall(r"not private: \S+ at least 7\.5", text)) == 2
        assert "None of the paper's" in text
