"""The page in a real browser; skipped, with the reason, where there is none."""

from __future__ import annotations

import base64
import re

import chromium
import pytest
from packages import KEPT
from samplerun import write

from reproduction.report import inputs, page

pytestmark = pytest.mark.skipif(
    chromium.find() is None,
    reason=f"none of {', '.join(chromium.NAMES)} is installed: the page is not seen by a browser",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = chromium.Browser(chromium.find(), tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("run") / "results")
    return page.build(inputs.files_of_folder(root), run={"Processor": "x" * 80})


@pytest.fixture
def load(browser, html, tmp_path):
    """Return a function that loads the page, changed or not, in a window of some width."""

    def run(change=lambda text: text, width=1280, at=""):
        file = tmp_path / "report.html"
        file.write_text(change(html), encoding="utf-8")
        shown = browser.open(file.as_uri() + at, width)
        if not at:
            shown.run(OPEN)
        return shown

    return run


@pytest.fixture(scope="module")
def kept_page(tmp_path_factory):
    """Return the file of the page on the kept results."""
    file = tmp_path_factory.mktemp("kept") / "page.html"
    page.write_page(inputs.files_of_folder(KEPT), file, run={})
    return file


OPEN = "document.querySelectorAll('.evidence').forEach((one) => { one.open = true; })"
DECODED = """Promise.all([...document.images].map(
    (image) => image.decode().then(() => image.naturalWidth > 0, () => false)))"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
COLUMN = """[...document.querySelectorAll('#tables-table3 tbody tr:not(.group)')]
    .map((row) => row.cells[{0}].dataset.value ?? row.cells[{0}].textContent)"""


def test_the_page_loads_without_errors_and_without_network(load, browser, kept_page):
    for shown in (load(), browser.open(kept_page.as_uri())):
        assert {*shown.run(DECODED)} == {True}
        assert shown.errors() == []
        assert shown.requests() == []


def test_the_checks_would_notice(load):
    """Each thing that the tests here look for is found where it is put into the page."""

    def spoil(text):
        start = text.index('<meta http-equiv="Content-Security-Policy"')
        text = text[:start] + text[text.index(">", start) + 1 :]
        bad = '<img src="data:image/png;base64,AAAA"><img src="missing.png">'
        bad += '<div style="width: 3000px">x</div><script>console.error("oops"); lost()</script>'
        return text.replace("</main>", bad + "</main>")

    shown = load(spoil)
    assert shown.run(DECODED) == [True, False, False]
    assert [url.rpartition("/")[2] for url in shown.requests()] == ["missing.png"]
    assert any("oops" in text for text in shown.errors())
    assert any("Uncaught" in text for text in shown.errors())
    assert shown.run(OVERFLOW) > 0


def test_the_policy_of_the_page_refuses_the_network(load):
    outside = '<img src="http://127.0.0.1:9/x.png"></main>'
    shown = load(lambda text: text.replace("</main>", outside))
    assert any("Content Security Policy" in text for text in shown.errors())


@pytest.mark.parametrize("width", [1280, 768, 400])
def test_nothing_is_wider_than_the_window(load, width):
    shown = load(width=width)
    assert shown.run(OVERFLOW) <= 0
    # Wide tables and figures scroll inside their frames instead, and the keyboard can reach them.
    frames = "[...document.querySelectorAll('.frame')]"
    assert shown.run(f"{frames}.every((frame) => frame.tabIndex === 0)")
    # On a telephone the cells of a row stand below its name.
    scrolling = shown.run(f"{frames}.some((frame) => frame.scrollWidth > frame.clientWidth)")
    assert not scrolling or width == 768


def test_a_column_sorts_as_numbers_by_keyboard_and_back_and_rows_say_their_group(load):
    shown = load()
    heads = shown.run(
        "[...document.querySelectorAll('#tables-table3 thead th')].map((th) => th.innerText)"
    )
    at = next(i for i, head in enumerate(heads) if head.startswith("Ours (RMSE)"))
    column = COLUMN.format(at)
    groups = (
        "[...new Set([...document.querySelectorAll('#tables-table3 tbody th[scope=row]')]"
        ".map((head) => getComputedStyle(head, '::after').content))]"
    )
    direction = f"document.querySelectorAll('#tables-table3 thead th')[{at}].ariaSort"
    before = shown.run(column)
    filled = sorted((cell for cell in before if cell), key=float)
    empty = [""] * (len(before) - len(filled))
    assert before not in (filled + empty, filled[::-1] + empty)
    assert shown.run(groups) == ["none"]
    shown.run(f"document.querySelectorAll('#tables-table3 thead button')[{at}].focus()")
    shown.press("Enter", 13)
    assert shown.run(column) == filled + empty
    assert shown.run(direction) == "ascending"
    # Rows out of their groups name these.
    assert sorted(shown.run(groups)) == ['"Beyond the paper"', "none"]
    shown.press("Enter", 13)
    assert shown.run(column) == filled[::-1] + empty
    shown.press("Enter", 13)
    assert shown.run(column) == before
    assert shown.run(direction) is None


def test_the_theme_can_be_chosen(load):
    shown = load()
    colour = "getComputedStyle(document.body).backgroundColor"
    shown.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    dark = shown.run(colour)
    shown.run("document.getElementById('theme').click()")
    light = shown.run(colour)
    assert shown.run("document.getElementById('theme').textContent") == "Theme: light"
    assert light != dark
    shown.run("document.getElementById('theme').click()")
    assert shown.run(colour) == dark


def test_a_command_can_be_copied(load, browser):
    shown = load()
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    shown.call("Emulation.setFocusEmulationEnabled", enabled=True)
    button = "document.querySelector('#tables-table3 .copy')"
    shown.run(f"{button}.focus()")
    shown.press("Enter", 13)
    told = f"new Promise((done) => setTimeout(done, 200)).then(() => {button}.textContent)"
    assert shown.run(told) == "Copied"
    assert (
        shown.run("navigator.clipboard.readText()")
        == ".venv/bin/snakemake results/tables/table3.csv"
    )


def test_the_contents_open_and_close_on_a_narrow_screen(load):
    shown = load(width=400)
    visible = "document.getElementById('contents').offsetParent !== null"
    assert not shown.run(visible)
    shown.run("document.getElementById('menu').click()")
    assert shown.run(visible)
    shown.press("Escape", 27)
    assert not shown.run(visible)
    every = (
        "[...document.querySelectorAll('#contents a')].every((a) => document.querySelector(a.hash))"
    )
    assert shown.run(every)


def test_the_page_works_without_scripts(load):
    shown = load(
        lambda text: text.replace("<script", "<template").replace("</script>", "</template>")
    )
    assert shown.run("document.getElementById('contents').offsetParent !== null")
    buttons = (
        "[...document.querySelectorAll('button')].filter((b) => b.offsetParent !== null).length"
    )
    assert shown.run(buttons) == 0


#: Window -> how many screens of it the page on the kept results may have.
LENGTH = {(1400, 900): 7, (390, 844): 12}
#: Rows of the ledger that can be seen.
LINES = """[...document.querySelectorAll('.ledger tbody tr:not(.group)')]
    .filter((row) => !row.hidden).map((row) => row.id)"""
#: What is wider than its place.
CUT = """[...document.querySelectorAll('.card, .mark .label, .row .label, h1, h2, h3')]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && !part.matches('.unseen'))
    .map((part) => part.textContent)"""


@pytest.mark.parametrize("width", [1400, 900, 390])
def test_a_figure_is_legible_and_goes_on_sideways_in_its_frame(browser, kept_page, width):
    shown = browser.open(kept_page.as_uri(), width)
    shown.run(OPEN)
    images = "[...document.querySelectorAll('.paper img')].filter((one) => one.offsetParent)"
    # Eight points in a drawing are as many on the screen, or little fewer.
    place = "one.getBoundingClientRect()"
    assert shown.run(f"{images}.every((one) => one.parentElement.{place[4:]}.right <= innerWidth)")
    assert shown.run(OVERFLOW) <= 0
    assert shown.run(f"{images}.every((one) => {place}.width > 0.85 * one.getAttribute('width'))")


@pytest.mark.parametrize(("theme", "filtered"), [("light", False), ("dark", True)])
def test_figures_are_dark_in_the_dark(browser, kept_page, theme, filtered):
    shown = browser.open(kept_page.as_uri())
    shown.run(f"document.documentElement.dataset.theme = '{theme}'")
    used = shown.run("getComputedStyle(document.querySelector('.paper')).filter")
    assert (used != "none") == filtered


def test_the_page_on_the_kept_results_is_short(browser, kept_page):
    assert kept_page.stat().st_size < 3.5e6
    for window, screens in LENGTH.items():
        shown = browser.open(kept_page.as_uri(), *window)
        height = shown.run("document.documentElement.scrollHeight")
        assert height <= screens * window[1], window
        assert shown.run(OVERFLOW) <= 0
        assert shown.run(CUT) == []


def test_the_first_screen_is_short_and_has_one_picture(browser, kept_page):
    shown = browser.open(kept_page.as_uri(), 1400)
    text = "document.querySelector('#top').innerText.replace(/\\s+/g, ' ')"
    assert 500 < len(shown.run(text)) <= 900
    bars = "[...document.querySelectorAll('#top figure .row b')].map((one) => one.innerText)"
    assert {"at most 0.0029", "0.13", "1", "82 to 240"} <= {*shown.run(bars)}
    assert shown.run("document.querySelectorAll('#top figure').length") == 1
    assert shown.run("document.querySelector('#top').getBoundingClientRect().bottom") < 900


def test_no_table_is_cut_on_a_wide_screen(browser, kept_page):
    shown = browser.open(kept_page.as_uri(), 1400)
    shown.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    cut = "[...document.querySelectorAll('.frame')].map((one) => one.scrollWidth - one.clientWidth)"
    widths = shown.run(cut)
    assert len(widths) > 5
    assert max(widths) <= 1


def test_the_ledger_can_be_filtered(browser, kept_page):
    shown = browser.open(kept_page.as_uri())
    every = shown.run(LINES)
    words = "document.querySelector('#ledger .filter input')"

    def type_words(text):
        shown.run(f"({words}.value = '{text}', {words}.dispatchEvent(new Event('input')))")
        return shown.run(LINES)

    def press(name):
        buttons = "[...document.querySelectorAll('#ledger button')]"
        shown.run(f"{buttons}.find((one) => one.textContent === '{name}').click()")
        return shown.run(LINES)

    assert 0 < len(type_words("max-pnr")) < len(every)
    # A whole word: M1 is not a part of M12.
    assert "claim-M1" in type_words("M1")
    assert "claim-M12" not in shown.run(LINES)
    count = "document.querySelector('#ledger output').textContent"
    assert type_words("nowhere") == []
    assert shown.run(count) == f"0 of {len(every)} rows"
    assert press("Show all") == every
    ours = press("IMGM")
    assert {line.split("-")[1][0] for line in ours} == {"I", "i"}
    failing = press("not reproduced")
    assert 0 < len(failing) < len(ours)
    assert all(line.startswith("claim-I") for line in failing)
    # One verdict or the other.
    both = press("reproduced")
    assert {*failing} < {*both} < {*ours}
    assert len(press("MVG")) > len(both)
    pressed = "document.querySelectorAll('#ledger [aria-pressed=true]').length"
    assert shown.run(pressed) == 4
    assert press("Show all") == every
    assert shown.run(pressed) == 0


SIGNS = """[...document.querySelectorAll('.pills .badge, .bar i, .ledger .badge, .swatch')]
    .map((one) => [one.className.replace(/badge|verdict|swatch/g, '').trim(),
        getComputedStyle(one, '::before').content])"""


def test_a_verdict_has_a_sign_beside_its_colour(browser, kept_page):
    shown = browser.open(kept_page.as_uri())
    signs = {tuple(pair) for pair in shown.run(SIGNS)}
    # One for each verdict, and none without.
    assert len(signs) == len({name for name, _ in signs}) >= 5
    assert {sign.split('"')[1] for _, sign in signs} == {*"✓✗◐?"}


def test_paper_shows_the_evidence_in_ten_pages(browser, kept_page):
    shown = browser.open(kept_page.as_uri())
    shown.run("document.documentElement.dataset.theme = 'dark'")
    pdf = base64.b64decode(shown.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 8 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 10
    shown.call("Emulation.setEmulatedMedia", media="print")
    assert shown.run("getComputedStyle(document.body).color") == "rgb(30, 34, 38)"
    # The heads of tables stay, which are buttons on a screen.
    buttons = "[...document.querySelectorAll('button:not(thead button)')]"
    assert shown.run(f"{buttons}.filter((one) => one.offsetParent).length") == 0
    # A head that has a box in it is not drawn again on the next page.
    head = "getComputedStyle(document.querySelector('thead button')).display"
    assert shown.run(head) == "contents"


def test_what_is_folded_opens_for_its_address(load):
    folded = '<details id="outer"><p>x</p><details><p id="inside">y</p></details></details></main>'
    shown = load(lambda text: text.replace("</main>", folded), at="#inside")
    seen = "document.getElementById('inside').checkVisibility()"
    assert shown.run(seen)
    shown.run("document.getElementById('outer').open = false")
    assert not shown.run(seen)
