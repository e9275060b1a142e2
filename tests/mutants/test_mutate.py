import subprocess
from dataclasses import replace
from pathlib import Path

import mutate
import pytest

FOLDER = Path(mutate.__file__).parent
SIGN = mutate.Mutant(
    "tiny",
    "the sign",
    "workflow/tiny/sums.py",
    old="a + b",
    new="a - b",
    tests=("tests/test_sums.py",),
    privacy=True,
)


@pytest.fixture
def tiny(tmp_path):
    """A project of one function and its tests."""
    root = tmp_path / "tiny"
    for name, text in {
        "workflow/tiny/sums.py": "def add(a, b):\n    return a + b\n",
        "tests/test_sums.py": "from tiny import sums\n\ndef test_add():\n"
        "    assert sums.add(2, 1) == 3\n\ndef test_nothing():\n    assert sums\n",
        "ignored.txt": "",
        ".gitignore": "ignored.txt\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_a_mutant_is_killed_by_a_test_that_notices_it(tiny):
    weak = ("tests/test_sums.py::test_nothing",)
    mutants = [SIGN, replace(SIGN, tests=weak), replace(SIGN, new="a +"), SIGN]
    found = [verdict for _, verdict in mutate.judged(mutants, tiny, workers=1)]
    # The last one: the tree is as it was after the others.
    assert found == ["killed", "survived", "broken", "killed"]
    assert (tiny / SIGN.file).read_text() == "def add(a, b):\n    return a + b\n"


def test_tests_must_pass_without_a_mutant(tiny):
    (tiny / SIGN.file).write_text("def add(a, b):\n    return a + b + 1\n")
    with pytest.raises(ValueError, match=r"test_sums.py fails without any mutant"):
        [*mutate.judged([SIGN], tiny, workers=1)]


def test_a_copy_holds_what_git_does_not_ignore(tiny, tmp_path):
    tree = mutate.copy(tiny, tmp_path / "copy" / "tiny")
    assert (tree / SIGN.file).is_file()
    assert not (tree / "ignored.txt").exists()


@pytest.mark.parametrize("old", ["a * b", "a", "a - b"])
def test_a_mutant_that_does_not_apply_is_an_error(tiny, old):
    with pytest.raises(ValueError, match="occurs"):
        replace(SIGN, old=old).apply(tiny)


def test_a_pattern_names_one_place_in_one_function():
    text = (
        "def add(a, b):\n    return a + b\n\n\nclass Sum:\n    def all(self):\n        return 1\n"
    )
    mutant = replace(SIGN, old="", pattern=r"return (\w)", new=r"return -\1", function="add")
    assert mutant.change(text) == text.replace("return a", "return -a")
    mutant = replace(mutant, function="Sum.all")
    assert mutant.change(text) == text.replace("return 1", "return -1")
    for changes in ({"function": ""}, {"pattern": "x"}, {"new": r"return \1"}):
        with pytest.raises(ValueError, match="occurs"):
            replace(mutant, **changes).change(text)
    with pytest.raises(ValueError, match="there is no Sum.some"):
        replace(mutant, function="Sum.some").change(text)


def test_the_page_counts_each_group_and_names_survivors():
    other = replace(SIGN, group="other", name="harmless", privacy=False, survives="no test can")
    page = mutate.report([(SIGN, "killed"), (SIGN, "survived"), (other, "survived")])
    assert "| tiny | 2 | 1 | 2 | 1 |\n| other | 1 | 0 | 0 | 0 |\n| all | 3 | 1 | 2 | 1 |" in page
    assert "| the sign (workflow/tiny/sums.py) **(privacy)** | tiny | NO REASON |" in page
    assert "| harmless (workflow/tiny/sums.py) | other | no test can |" in page


@pytest.mark.parametrize("group", sorted(path.stem for path in FOLDER.glob("*.yaml")))
def test_every_entry_applies_and_names_tests_that_exist(group):
    for mutant in mutate.read(FOLDER):
        if mutant.group == group:
            mutant.change((mutate.ROOT / mutant.file).read_text())
            assert mutant.tests, mutant.name
            for test in mutant.tests:
                path, *names = test.partition("[")[0].split("::")
                assert (mutate.ROOT / path).exists(), test
                assert all(name in (mutate.ROOT / path).read_text() for name in names), test
