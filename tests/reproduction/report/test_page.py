"""The page is safe, needs nothing beside itself, and can be read by everyone."""

from __future__ import annotations

import itertools
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from runfiles import write as make_table
from runfiles import write_rows
from samplerun import draw, put, settle, write

from matrixdp.checks import InputError
from reproduction import cli
from reproduction.report import inputs, page
from reproduction.report.page import machine, pictures, prose

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


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return the folder of the sample run, only for reading."""
    return write(tmp_path_factory.mktemp("sample") / "results")


@pytest.fixture(scope="module")
def html(sample):
    """Return the page on the sample run."""
    return page.build(inputs.files_of_folder(sample), run=RUN)


def section(html: str, name: str) -> str:
    """Return the HTML of one section of the page."""
    start = html.index(f'" id="{name}">')
    found = re.split(r'<section class="chapter|</main>', html[start:])[0]
    return f'<section class="{found}'


def test_what_a_person_left_in_the_folder_is_not_shown(sample, tmp_path):
    root = shutil.copytree(sample, tmp_path / "results")
    listed = [path for path in root.rglob("*") if path.is_file()]
    draw(root, "of_tomorrow", {"topic": "x", "caption": "x"})
    assert "of-tomorrow" in page.build(inputs.files_of_folder(root), run=RUN)
    assert "of-tomorrow" not in page.build(inputs.files_by_name(listed), run=RUN)


def test_the_configuration_is_shown_and_nothing_private(html):
    provenance = section(html, "how")
    assert ">6 x 345<" in provenance
    assert ">matches<" in provenance
    assert "table_epsilon: '1'" in unquote(provenance)
    assert "private-folder" not in html
    assert "numpy" in provenance


def test_markup_in_text_is_shown_and_not_obeyed():
    assert "<script>" not in prose.html("<script>alert(1)</script>")
    assert "href" not in prose.inline("[x](javascript:alert(1))")
    assert prose.inline("[x](https://a.example/b)") == '<a href="https://a.example/b">x</a>'


def test_the_page_needs_no_network_and_no_file(html):
    reader = Reader(html)
    names = {name for name, _ in reader.tags}
    assert not names & {"iframe", "object", "embed", "video", "audio", "base"}
    assert all(one["src"].startswith("data:image/") for one in reader.attributes("img"))
    assert all("src" not in one for one in reader.attributes("script"))
    assert [one["href"] for one in reader.attributes("link")] == ["data:,"]
    styles = (page.FOLDER / "style.css").read_text()
    assert "@import" not in styles
    assert "url(" not in styles


def test_ids_are_unique_and_links_lead_somewhere(html):
    reader = Reader(html)
    ids = reader.ids()
    assert len(ids) == len({*ids})
    inside = [one["href"][1:] for one in reader.attributes("a") if one["href"].startswith("#")]
    assert len(inside) > 10
    assert {*inside} <= {*ids}


def test_the_same_results_give_the_same_page_but_for_facts_on_the_run(html, sample):
    assert page.build(inputs.files_of_folder(sample), run=RUN) == html
    other = {"Git commit": "9999", "Processor": "another"}
    second = page.build(inputs.files_of_folder(sample), run=other)
    assert second != html
    assert Reader(html).steady == Reader(second).steady
    assert Reader(html).run != Reader(second).run


def test_the_page_on_kept_results_is_the_same_everywhere(sample, tmp_path, monkeypatch):
    root = shutil.copytree(sample, tmp_path / "results/reference")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report"]) == 0
    html = (tmp_path / "results/page.html").read_text()
    assert Reader(html).run == []
    assert "Processor" not in html
    assert html == page.build(inputs.files_of_folder(root), run={})


def test_commands_have_the_folder_and_the_options_of_the_run(sample):
    options = "--configfile config.yaml quick.yaml"
    html = page.build(
        inputs.files_of_folder(sample), run=RUN, folder="results/of mine", options=options
    )
    text = html.replace("&#39;", "'")
    assert f"snakemake 'results/of mine/tables/table3.csv' {options}" in text
    assert f"snakemake {options} --forceall table3" in text
    assert "results/tables" not in html


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tables/audit.csv", "a,b\n1,2\n", r"a table of the run cannot be read"),
        ("tables/table3.json", '{"title": "Table 3"', r"table3\.json cannot be read"),
        ("data/liver/provenance.json", "{", r"provenance\.json cannot be read"),
        ("rows/regression.csv", "a\n", "is not a whole rows file"),
    ],
)
def test_a_damaged_file_is_one_sentence_and_leaves_the_old_page(
    sample, tmp_path, name, content, message
):
    root = shutil.copytree(sample, tmp_path / "results")
    put(root / name, content)
    put(root / "report.html", "the old page")
    with pytest.raises(InputError, match=message):
        page.write_page(inputs.files_of_folder(root), root / "report.html", run=RUN)
    assert (root / "report.html").read_text() == "the old page"
    assert [one.name for one in root.glob("*report*")] == ["report.html"]


# Pictures


def test_an_address_survives_html_and_decoding():
    text = "<a b='c'>100% & #1\n\"é\"</a>"
    address = pictures.address("image/svg+xml", text)
    assert not {*'"&#\n'} & {*address}
    assert unquote(address.partition(",")[2]) == text


def test_an_experiment_of_tomorrow_has_a_place(sample, tmp_path):
    root = shutil.copytree(sample, tmp_path / "results")
    for kind in ("summary", "comparisons"):
        copy = (root / f"{kind}/regression.csv").read_text().replace("regression,", "tomorrow,")
        put(root / f"{kind}/tomorrow.csv", copy)
    settle(root, experiments={key: {"dataset": "liver"} for key in ["regression", "tomorrow"]})
    write_rows(root)
    make_table(root, "tables/tomorrow")
    html = page.build(inputs.files_of_folder(root), run=RUN)
    assert 'id="tables-tomorrow"' in section(html, "further")
    assert html.index('id="imgm"') < html.index('id="further"') < html.index('id="claims"')


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
