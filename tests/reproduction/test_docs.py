"""README and the docs: length, links, and the targets that their commands name."""

import functools
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packages import ROOT

from reproduction import catalogue, discovery

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


@functools.cache
def rules():
    """Return the names of all rules, those that overlays of their own make useful too."""
    words = [sys.executable, "-m", "snakemake", "--list", "--quiet", "all"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.split()[0] for line in run.stdout.splitlines() if line}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_name_targets(page):
    text = page.read_text(encoding="utf-8")
    goals = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    code = re.findall(r"^```\w*\n(.*?)^```$|`([^`\n]+)`", text, re.DOTALL | re.MULTILINE)
    for line in "\n".join("".join(pair) for pair in code).splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["make"]:
            # Arguments for what runs below come by name: `make ARGS=-n`.
            assert {word for word in words[1:2] if "=" not in word} <= {*goals}, line
        elif words and words[0].removeprefix(".venv/bin/") == "snakemake":
            targets = itertools.takewhile(lambda word: word[0] != "-", words[1:])
            assert all("/" in name or name in rules() for name in targets), line


def test_experiments_of_the_papers_and_their_tables_are_targets():
    tables = [each for each in catalogue.experiments().values() if each.table]
    names = {name for each in tables for name in (each.id, each.results)}
    assert {"table3", "first_pc"} <= names
    assert names | discovery.trainings().keys() <= rules()


def test_a_rule_that_is_used_anew_runs_where_its_parent_does():
    """Snakemake does not hand `localrule` down: a download would run on a node offline."""

    def blocks(text):
        parts = re.split(r"^(?=rule |use rule )", text, flags=re.MULTILINE)
        return {re.match(r"(?:use rule \w+ as|rule) (\w+)", part)[1]: part for part in parts[1:]}

    def strays(rules):
        parents = {name: re.match(r"use rule (\w+)", part) for name, part in rules.items()}
        return [
            name
            for name, parent in parents.items()
            if parent and ("localrule" in rules[parent[1]]) != ("localrule" in rules[name])
        ]

    text = "".join(file.read_text() for file in sorted(ROOT.glob("workflow/rules/*.smk")))
    rules = blocks(text)
    assert "use rule" in text
    assert not strays(rules)
    child = next(name for name, part in rules.items() if part.startswith("use rule"))
    rules[child] = rules[child].replace("localrule", "benchmark")
    assert strays(rules) == [child]


def test_hosted_checks_name_targets():
    goals = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    lines = re.findall(r"run: make (.+)$", "".join(map(Path.read_text, files)), re.MULTILINE)
    assert len(lines) > 2
    words = [word for line in lines for word in line.partition(" ARGS=")[0].split()]
    assert {*words} <= {*goals}
