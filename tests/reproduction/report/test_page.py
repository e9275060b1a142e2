from __future__ import annotations

import itertools
import json
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from packages import KEPT
from runfiles import write as make_table
from samplerun import SVG, draw, put, regression, settle, write

from matrixdp.checks import InputError
from reproduction import catalogue, cli
from reproduction.report import inputs, page
from reproduction.report.page import layout, machine, pictures

RUN = {"Git commit": "0123abc", "Processor": "a processor"}


class Reader(HTMLParser):
    """Collects tags, ids, and text in order; what stands in ``data-run`` elements is apart."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.steady: list[str] = []
        self.run: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, {name: value or "" for name, value in attributes}))
        if tag not in self.VOID:
            inside = bool(self._open) and self._open[-1][1]
            self._open.append((tag, inside or "data-run" in dict(attributes)))
        self._take(f"<{tag} {sorted(attributes)}>")

    def handle_endtag(self, tag):
        opened, _ = self._open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"

    def handle_data(self, data):
        self._take(data)

    def _take(self, text):
        (self.run if self._open and self._open[-1][1] else self.steady).append(text)

    def attributes(self, tag: str) -> list[dict[str, str]]:
        return [found for name, found in self.tags if name == tag]

    def ids(self) -> list[str]:
        return [found["id"] for _, found in self.tags if "id" in found]


@pytest.fixture
def make(tmp_path):
    """Return a function that builds the page on a results folder, by default the sample run."""

    def run(root=None, **options):
        root = write(tmp_path / "results") if root is None else root
        return page.build(inputs.below(root), **{"run": RUN, **options})

    return run


def section(html: str, name: str) -> str:
    """Return the HTML of one section of the page."""
    start = html.index(f'" id="{name}">')
    found = re.split(r'<section class="chapter|</main>', html[start:])[0]
    return f'<section class="{found}'


def test_the_first_screen_says_on_which_data_and_trials_it_rests(make):
    top = make().split('<section class="chapter')[0].split("<main")[1]
    assert "<b>Data:</b> original (Liver Disorders)." in top
    assert "<b>Trials:</b> 100 in Experiment I." in top
    assert "Nothing has been judged yet." in top
    assert "alarm" not in top
    assert "0 of 2 published private values are met." in section(make(), "regression")


def test_the_papers_table_stands_open_and_further_evidence_is_folded(make):
    html = section(make(), "regression")
    differences, box, evidence = html.split('<details class="evidence"><summary>')
    assert "The error is RMSE" in differences
    assert box.startswith("How this differs from the paper")
    assert "0 of 2 published private values are met." in box
    assert 'id="tables-table3"' in box
    assert 'id="figures-figure4-left"' in evidence.split("</details>\n  <p")[0]
    assert html.count("<details") == html.count("</details>")


def test_words_of_the_glossary_lead_to_their_meaning(make):
    html = make()
    words = catalogue.section("glossary")
    explained = section(html, "glossary")
    assert all(f"<dt>{word}</dt><dd>{markup_of(words[word])}" in explained for word in words)
    text = section(html, "methods")
    assert text.count('class="term" href="#term-delta"') <= 1


def test_a_table_stands_with_its_verdicts_numbers_caption_command_and_data(make):
    html = section(make(), "regression")
    assert '<td class="number" data-value="0.2557">0.2557 (1.624 ± 0.026)</td>' in html
    assert '<span class="badge better">better</span>' in html
    assert "Beyond the paper" in html
    assert "the kernel, the ridge and the split" in html
    assert 'data-copy="snakemake results/tables/table3.csv"' in html
    (data,) = re.findall(r'href="data:text/csv;charset=utf-8,([^"]*)" download="table3.csv"', html)
    assert unquote(data).startswith("method,mechanism,")


def test_a_figure_carries_its_finding_and_its_caption(make):
    html = section(make(), "regression")
    (picture,) = Reader(html).attributes("img")
    assert picture["alt"] == "It is <0.2>"
    assert picture["aria-describedby"] == "figures-figure4-left-caption"
    assert re.search(r'-left-caption">The error is &lt;0\.\d{3}&gt;\.</figcaption>', html)
    assert '<a href="#figures-figure4-left">It is &lt;0.2&gt;</a>' in html
    assert (picture["width"], picture["height"]) == ("133", "67")
    assert 'data-copy="snakemake results/figures/figure4_left.svg"' in html
    assert 'download="figure4_left.csv"' in html


def markup_of(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


def test_what_a_person_left_in_the_folder_is_not_shown(tmp_path):
    root = write(tmp_path / "results")
    listed = [path for path in root.rglob("*") if path.is_file()]
    draw(root, "of_tomorrow", {"topic": "x", "headline": "x", "caption": "x"})
    assert "of-tomorrow" in page.build(inputs.below(root), run=RUN)
    assert "of-tomorrow" not in page.build(inputs.by_name(listed), run=RUN)


def test_a_figure_without_its_words_is_one_sentence(make, tmp_path):
    root = write(tmp_path / "results")
    (root / "figures/figure4_left.json").unlink()
    with pytest.raises(InputError, match=r"^figures/figure4_left\.json is not among the files of"):
        make(root)


def test_a_claim_stands_once_and_its_experiment_leads_to_it(make, tmp_path):
    root = write(tmp_path / "results")
    blank = "place,statistic,evidence,reason,effect,effect_low,effect_high,margin,power"
    blank += ",p_corrected,readings_holding,readings_total,effect_zeros,alike,met_by,beaten_by"
    rows = ["M1,MVG,theorem,holds,reproduced,table3 nowhere,"]
    rows += ["M2,MVG,experiment,too,undecided,,regression"]
    text = "\n".join(
        [f"id,paper,claim_type,claim,verdict,shown_by,experiments,{blank}"]
        + [row + "," * len(blank.split(",")) for row in rows]
    )
    put(root / "claims.csv", f"{text}\n")
    html = make(root)
    claims = section(html, "claims")
    assert '<span class="badge reproduced">reproduced</span>' in claims
    assert 'Shown by <a href="#tables-table3">table3</a>' in claims
    assert '<i class="reproduced" style="flex: 1" title="reproduced: 1">1</i>' in claims
    assert html.count(">too <small>") == 1
    links = '<a class="badge undecided" href="#claim-M2">M2 undecided</a>'
    assert links in section(html, "regression")
    assert "#claim-M1" not in section(html, "regression")


def test_what_is_not_there_is_listed_and_nothing_fails(make, tmp_path):
    settle(tmp_path / "empty")
    html = make(tmp_path / "empty")
    assert "tables/table3, figures/figure4_left" in section(html, "regression")
    assert "Nothing has been judged yet." in html
    assert "everything-else" not in html
    assert "<b>Not built:</b> figures/readings." in section(html, "readings")


def test_what_a_run_of_its_own_makes_names_its_command_and_leads_to_the_kept_results(
    make, tmp_path
):
    root = write(tmp_path / "results")
    about = {"dataset": "mnist", "trials": 3}
    settle(root, training={"imdb": about})
    html = make(root)
    title = catalogue.experiment("mnist").title
    assert html.count(f"<b>{title}, not run:</b> <code>make mnist</code>. The kept results") == 1
    assert re.search(r'make mnist</code>.* in <a href="page\.html#(\w+)">page\.html</a>', html)
    assert "imgm_imdb" in html.partition("<b>Not built:</b>")[2]
    assert "tables/imgm_mnist," not in html


def test_simulated_data_are_told_loudly_and_compared_with_nothing(make, tmp_path):
    html = make(write(tmp_path / "results", status="simulated"))
    assert "<title>SIMULATED DATA:" in html
    assert 'role="alert"><strong>Simulated data: liver.</strong>' in html
    assert html.count(catalogue.mark("simulated").text) >= 2
    assert "nothing is compared with the paper" in section(html, "regression")
    assert 'class="card"' not in html
    assert "published values are met" not in html


def test_an_experiment_without_gaps_and_a_learning_set_have_their_places(make, tmp_path):
    rows = [part.assign(note="") for part in regression() if part["value"].notna().all()]
    root = write(tmp_path / "results", rows)
    facts = {"name": "adult", "arrays": {"train_inputs": {"shape": [32561, 105]}}}
    put(root / "data/adult/provenance.json", json.dumps(facts))
    settle(root, training={"adult": {"dataset": "adult", "trials": 3}})
    html = make(root)
    assert "no guarantee" not in section(html, "gaps")
    assert "train_inputs: 32561 x 105" in section(html, "provenance")


def test_few_trials_are_told(make, tmp_path):
    few = [rows[rows["trial"].isna() | rows["trial"].lt(9)] for rows in regression()]
    html = make(write(tmp_path / "few", few))
    assert re.search("9 in Experiment I; .*fewer than 10.* winner", html)
    assert "9 trials: too few to name a winner" in section(html, "cards")
    many = make(write(tmp_path / "many"))
    assert "named the winner" not in many
    assert "too few" not in section(many, "cards")


def test_reasons_of_gaps_and_configuration_are_shown_and_nothing_private(make):
    html = make()
    gaps = section(html, "gaps")
    assert "no guarantee: delta is 0.1 at epsilon 1" in gaps
    assert "skipped: &lt;b&gt;it&lt;/b&gt; answers covariance queries" in gaps
    provenance = section(html, "provenance")
    assert "ab" * 32 in provenance
    assert ">matches<" in provenance
    assert "table_epsilon: &#39;1&#39;" in provenance
    assert "private-folder" not in html
    assert "numpy" in provenance


def test_the_run_passes_or_fails_at_the_top(tmp_path):
    root = write(tmp_path / "results")
    run = page.first_screen.Run(inputs.below(root))
    assert page._health(run) == {"passed": True, "words": []}
    rows = "releases,certified,regression,x\nnegative control,caught,,\nnegative control,MISSED,,\n"
    put(root / "tables/audit.csv", f"subject,verdict,experiment,mechanism\n{rows}")
    words = ["releases: 0 of 1 failed", "1 of 2 wrong mechanisms caught"]
    run = page.first_screen.Run(inputs.below(root))
    assert page._health(run) == {"passed": False, "words": words}
    html = page.build(inputs.below(root), run={})
    assert '<p class="status alarm">Our privacy audit FAILED' in html
    assert html.index("1 of 2 wrong mechanisms caught") < html.index('<dl class="answers">')
    put(root / "tables/audit.csv", f"subject,verdict,experiment,mechanism\n{rows.split('neg')[0]}")
    html = page.build(inputs.below(root), run={})
    passed = html.index("Our privacy audit</a> passed (releases: 0 of 1 failed)")
    assert html.index('<dl class="answers">') < passed < html.index('<section class="chapter')


def test_the_page_needs_no_network_and_no_file(make):
    reader = Reader(make())
    names = {name for name, _ in reader.tags}
    assert not names & {"iframe", "object", "embed", "video", "audio", "base"}
    assert all(one["src"].startswith("data:image/") for one in reader.attributes("img"))
    assert all("src" not in one for one in reader.attributes("script"))
    assert [one["href"] for one in reader.attributes("link")] == ["data:,"]
    styles = (page.FOLDER / "style.css").read_text()
    assert "@import" not in styles
    assert "url(" not in styles


def test_the_page_on_the_kept_results_has_few_tables_and_its_order():
    html = page.build(inputs.below(KEPT), run={})
    assert html.count('<section class="result" id="tables-') <= 15
    assert html.count("<table class=") - html.count('<table class="ledger') <= 17
    order = [html.index(f'" id="{name}">') for name in ("cards", "recommend", "setups", "imgm")]
    assert order == sorted(order)
    assert '<a href="#limits">' in html[: order[0]]
    choice = section(html, "recommend").partition("</table>")[0]
    assert choice.count("<tr>") == 6
    assert "‡" in choice


def test_ids_are_unique_and_links_lead_somewhere(make):
    reader = Reader(make())
    ids = reader.ids()
    assert len(ids) == len({*ids})
    inside = [one["href"][1:] for one in reader.attributes("a") if one["href"].startswith("#")]
    assert len(inside) > 20
    assert {*inside} <= {*ids}


def test_the_same_results_give_the_same_page_but_for_facts_on_the_run(make, tmp_path):
    root = write(tmp_path / "results")
    first = make(root)
    assert first == make(root)
    second = make(root, run={"Git commit": "9999", "Processor": "another"})
    assert first != second
    assert Reader(first).steady == Reader(second).steady
    assert Reader(first).run != Reader(second).run


def test_the_page_on_kept_results_is_the_same_everywhere(tmp_path, monkeypatch):
    root = write(tmp_path / "results/reference")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report"]) == 0
    html = (tmp_path / "results/page.html").read_text()
    assert Reader(html).run == []
    assert "Processor" not in html
    assert html == page.build(inputs.below(root), run={})


def test_commands_end_with_the_options_of_the_run(make):
    html = make(options="--configfile config.yaml quick.yaml")
    assert (
        'data-copy="snakemake results/tables/table3.csv --configfile config.yaml quick.yaml"'
        in html
    )
    assert "snakemake --configfile config.yaml quick.yaml --forceall table3" in html


def test_commands_and_files_are_in_the_folder_of_the_run(make):
    html = make(folder="results/of mine")
    assert "snakemake 'results/of mine/tables/table3.csv'" in html.replace("&#39;", "'")
    assert "results/tables" not in html


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tables/table3.csv", "a,b\n1,2\n", r"a table of the run cannot be read"),
        ("data/liver/provenance.json", "{", r"provenance\.json cannot be read"),
        ("summary/regression.csv", "a\n", "is not a whole summary file"),
    ],
)
def test_a_damaged_file_is_one_sentence_and_leaves_the_old_page(tmp_path, name, content, message):
    root = write(tmp_path / "results")
    put(root / name, content)
    put(root / "report.html", "the old page")
    with pytest.raises(InputError, match=message):
        page.write(inputs.below(root), root / "report.html", run=RUN)
    assert (root / "report.html").read_text() == "the old page"
    assert [one.name for one in root.glob("*report*")] == ["report.html"]


# Pictures


def test_a_slim_drawing_is_the_same_within_a_hundredth_of_a_point():
    slim = pictures.slim(SVG)
    assert "metadata" not in slim
    assert "<path d='m10.99 20l-41.49-20z' class='s0'/>" in slim
    assert "<path id='i0' d='m.12 1.5l4.88 4.5'/>" in slim
    assert "<use href='#i0' x='62.5' class='s0'/>" in slim
    assert slim.count("fill: #ff0000") == 1
    quoted = SVG.replace("fill:", "font: 'A b'; fill:")
    assert "font: 'A b'" in pictures.slim(quoted)


def test_an_address_survives_html_and_decoding():
    text = "<a b='c'>100% & #1\n\"é\"</a>"
    address = pictures.address("image/svg+xml", text)
    assert not {*'"&#\n'} & {*address}
    assert unquote(address.partition(",")[2]) == text


def test_a_picture_is_what_is_below_its_headline(tmp_path):
    file = tmp_path / "a.svg"
    file.write_text(SVG)
    found = pictures.read(file)
    assert (found.width, found.height) == (133, 67)
    assert "viewBox='0 0 100 50'" in unquote(found.source)
    below = pictures.read(file, above=20)
    assert (below.width, below.height) == (133, 40)
    assert "viewBox='0 20 100 30'" in unquote(below.source)
    assert "pt'" not in unquote(below.source).partition(">")[0]


def test_a_figure_has_its_headline_as_text_and_a_drawing_for_telephones(make, tmp_path):
    root = write(tmp_path / "results")
    assert 'class="narrow"' not in make(root)
    put(root / "figures/narrow/figure4_left.svg", SVG)
    html = section(make(root), "regression")
    assert "<h3>It is &lt;0.2&gt;</h3>" in html
    assert html.count('class="wide"') == html.count('class="narrow"') == 1


# Layout


def test_an_experiment_of_tomorrow_has_a_place(make, tmp_path):
    root = write(tmp_path / "results")
    for kind in ("summary", "comparisons"):
        copy = (root / f"{kind}/regression.csv").read_text().replace("regression,", "tomorrow,")
        put(root / f"{kind}/tomorrow.csv", copy)
    settle(root, experiments={key: {"dataset": "liver"} for key in ["regression", "tomorrow"]})
    make_table(root, "tables/tomorrow")
    html = make(root)
    assert 'id="tables-tomorrow"' in section(html, "further")
    assert html.index('id="imgm"') < html.index('id="further"') < html.index('id="claims"')


def test_every_figure_has_a_place_and_every_text_a_section():
    sections, aside = layout.read(page.FOLDER / "layout.yaml")
    kept = (machine.ROOT / "results" / "reference" / "figures").glob("*.svg")
    shown = {f"figures/{path.stem}" for path in kept} - {*aside}
    placed = layout.arrange(sections, sorted(shown))
    assert layout.FURTHER not in {entry.section.id for entry in placed}
    texts = {path.stem for path in (page.FOLDER / "texts").glob("*.md")}
    assert texts <= {one.id for one in sections}


def test_results_stand_once_where_they_are_first_named():
    a = layout.Section(
        "a", "A", "", show=("figures/x_2", "figures/x*", "tables/none", "figures/y*")
    )
    b = layout.Section("b", "B", "", show=("figures/x_1", "figures/*"))
    names = ["figures/x_1", "figures/x_2", "figures/z", "claims"]
    further = layout.Section(layout.FURTHER, "C", "")
    first, second, last = layout.arrange([a, b, further], names)
    assert first.results == ("figures/x_2", "figures/x_1")
    assert first.missing == ("tables/none", "figures/y*")
    assert (second.results, second.missing) == (("figures/z",), ())
    assert last.results == ("claims",)


def test_a_wrong_layout_is_one_sentence(tmp_path):
    folder = tmp_path / "report"
    shutil.copytree(page.FOLDER, folder)
    text = (folder / "layout.yaml").read_text()
    cases = [
        (text.replace("id: regression", "id: setups"), "has the section 'setups' twice"),
        (text.replace("builtin: gaps", "biultin: gaps"), "layout.yaml cannot be read .*'biultin'"),
        ("parts: [", "cannot be read .*; restore it from git"),
        ("parts: []", "cannot be read .it lacks 'aside'."),
    ]
    for wrong, message in cases:
        (folder / "layout.yaml").write_text(wrong)
        with pytest.raises(InputError, match=message):
            layout.read(folder / "layout.yaml")


# Facts on the run


def test_the_commit_is_that_of_the_folder_or_none(tmp_path):
    assert machine.commit(tmp_path) == "not in a git repository"
    assert re.match(r"[0-9a-f]{40}|not in a git", machine.commit(machine.ROOT))
    assert {"numpy", "snakemake", "jinja2"} <= machine.versions().keys()
    assert machine.versions(tmp_path) == {}
    assert all(machine.facts().values())


# Colours


def colours() -> dict[str, dict[str, str]]:
    """Return the named colours of both themes."""
    text = (page.FOLDER / "style.css").read_text()
    light = dict(re.findall(r"--(\w[\w-]*): (#[0-9a-f]{6})", text.split("}")[0]))
    dark = dict(re.findall(r"--(\w[\w-]*): (#[0-9a-f]{6})", text.split("}")[1]))
    return {"light": light, "dark": light | dark}


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.1, 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_every_ground(theme):
    known = colours()[theme]
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    texts = ("ink", "soft", "link", "within", "higher", "lower", "grey", "alarm")
    for text, ground in itertools.product(texts, ("page", "panel", "sunk")):
        assert contrast(known[text], known[ground]) >= 4.5, (text, ground)
    assert contrast(known["ink"], known["alarm-page"]) >= 4.5
    assert contrast(known["alarm"], known["alarm-page"]) >= 4.5
