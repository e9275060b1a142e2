"""README and the docs: length, links, and the targets that their commands name."""

import itertools
import re
from pathlib import Path

import pytest
from packages import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [
    *sorted((ROOT / "src/matrixdp").glob("*.md")),
    ROOT / "SECURITY.md",
    ROOT / "config/README.md",
]


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def anchors(page):
    """Return the anchors of a page's headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    """Return the links of a page that lead to no file, or to no heading of one."""
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^):]+)\)", text)
    links += re.findall(r"^\[[^\]]+\]: ([^:\s]+)$", text, re.MULTILINE)
    dead = []
    for link in links:
        name, _, anchor = link.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    assert dead_links(page) == []


def test_a_dead_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One way\n[a](#one-way) [b](#no-way) [c](page.md#one-way) [d](none.md)\n")
    assert dead_links(page) == ["#no-way", "none.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_name_targets(page):
    text = page.read_text(encoding="utf-8")
    rules = "".join(file.read_text() for file in ROOT.glob("workflow/rules/*.smk"))
    goals = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    code = re.findall(r"^```\w*\n(.*?)^```$|`([^`\n]+)`", text, re.DOTALL | re.MULTILINE)
    for line in "\n".join("".join(pair) for pair in code).splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["make"]:
            # Arguments for what runs below come by name: `make ARGS=-n`.
            assert {word for word in words[1:2] if "=" not in word} <= {*goals}, line
        elif words and words[0].removeprefix(".venv/bin/") == "snakemake":
            targets = itertools.takewhile(lambda word: word[0] != "-", words[1:])
            assert all("/" in name or f"rule {name}:" in rules for name in targets), line


def test_hosted_checks_name_targets():
    goals = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    lines = re.findall(r"run: make (.+)$", "".join(map(Path.read_text, files)), re.MULTILINE)
    assert len(lines) > 2
    words = [word for line in lines for word in line.partition(" ARGS=")[0].split()]
    assert {*words} <= {*goals}
