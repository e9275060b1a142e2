"""The page in a real browser; skipped, with the reason, where there is none."""

from __future__ import annotations

import chromium
import pytest
from samplerun import write

from matrixdp.report import page

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
    return page.build(root, run={"Processor": "x" * 80})


@pytest.fixture
def load(browser, html, tmp_path):
    """Return a function that loads the page, changed or not, in a window of some width."""

    def run(change=lambda text: text, width=1280):
        file = tmp_path / "report.html"
        file.write_text(change(html), encoding="utf-8")
        shown = browser.open(file.as_uri(), width)
        shown.run("document.querySelectorAll('.evidence').forEach((one) => { one.open = true; })")
        return shown

    return run


DECODED = """Promise.all([...document.images].map(
    (image) => image.decode().then(() => image.naturalWidth > 0, () => false)))"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
COLUMN = """[...document.querySelectorAll('#tables-table3 tbody')[0].rows]
    .map((row) => row.cells[{0}].dataset.value ?? row.cells[{0}].textContent)"""


def test_the_page_loads_without_errors_and_without_network(load):
    shown = load()
    assert shown.run(DECODED) == [True, True]
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
    assert shown.run(DECODED) == [True, True, False, False]
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
    scrolling = shown.run(f"{frames}.some((frame) => frame.scrollWidth > frame.clientWidth)")
    assert scrolling or width > 400


def test_a_column_sorts_as_numbers_and_back(load):
    shown = load()
    heads = shown.run(
        "[...document.querySelectorAll('#tables-table3 thead th')].map((th) => th.innerText)"
    )
    at = next(i for i, head in enumerate(heads) if head.startswith("Ours (RMSE)"))
    click = f"document.querySelectorAll('#tables-table3 thead button')[{at}].click()"
    sorted_as = "document.querySelectorAll('#tables-table3 thead th')[{}].ariaSort"
    before = shown.run(COLUMN.format(at))
    filled = sorted((cell for cell in before if cell), key=float)
    empty = [""] * (len(before) - len(filled))
    assert filled != sorted(filled, key=float, reverse=True)
    assert empty
    shown.run(click)
    assert shown.run(COLUMN.format(at)) == filled + empty
    assert shown.run(sorted_as.format(at)) == "ascending"
    shown.run(click)
    assert [float(cell) for cell in shown.run(COLUMN.format(at)) if cell] == sorted(
        map(float, filled), reverse=True
    )
    shown.run(click)
    assert shown.run(COLUMN.format(at)) == before
    assert shown.run(sorted_as.format(at)) is None


def test_a_column_sorts_by_keyboard_and_the_groups_stay_apart(load):
    shown = load()
    methods = "[...document.querySelectorAll('#tables-table3 tbody')].map((body) => body.innerText)"
    before = shown.run(methods)
    shown.run("document.querySelector('#tables-table3 thead button').focus()")
    shown.press("Enter", 13)
    after = shown.run(methods)
    assert after != before
    assert [sorted(text.split("\n")) for text in after] == [
        sorted(text.split("\n")) for text in before
    ]
    assert after[1].lstrip().startswith("Beyond the paper")
    names = shown.run(COLUMN.format(0))
    assert names == sorted(names, key=str.lower)


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
    assert shown.run("navigator.clipboard.readText()") == "snakemake table3"


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


def test_print_keeps_the_headings_of_tables_and_drops_the_buttons(load):
    shown = load()
    shown.run("document.getElementById('theme').click()")
    shown.call("Emulation.setEmulatedMedia", media="print")
    every = "[...document.querySelectorAll('{}')].every((one) => one.offsetParent {} null)"
    assert shown.run(every.format("thead th button", "!=="))
    assert shown.run(every.format(".copy, #theme, #menu", "==="))


def test_the_page_works_without_scripts(load):
    shown = load(lambda text: text.replace("<script>", "<template>"))
    assert shown.run("document.getElementById('contents').offsetParent !== null")
    buttons = (
        "[...document.querySelectorAll('button')].filter((b) => b.offsetParent !== null).length"
    )
    assert shown.run(buttons) == 0
