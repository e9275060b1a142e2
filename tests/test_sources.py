import importlib
import importlib.metadata
import shutil

import pytest

from matrixdp import discovery, mechanisms, sources, theory
from matrixdp.experiments import tasks


@pytest.mark.parametrize(
    ("table", "package"), [("MECHANISMS", mechanisms), ("TASKS", tasks), ("THEORY", theory)]
)
def test_the_text_knows_the_same_names_as_the_package(table, package):
    found = getattr(sources, table.lower())()
    assert found.keys() == discovery.collect(package, table).keys()


def test_the_text_knows_the_axes_of_mechanisms():
    registry = mechanisms.registry()
    for name, entry in sources.mechanisms().items():
        assert entry.axes == registry[name].axes


def test_trainings_and_their_schemes_are_of_one_kind():
    for name in sources.trainings():
        module = importlib.import_module(f"matrixdp.experiments.schemes.{sources.kind(name)}")
        assert sources.schemes(name).keys() == module.SCHEMES.keys()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package and of the files beside it, which the digests are of."""
    package = tmp_path / "workflow" / "matrixdp"
    skipped = shutil.ignore_patterns("__pycache__", "rules")
    shutil.copytree(sources.PACKAGE.parent, package.parent, ignore=skipped)
    monkeypatch.setattr(sources, "PACKAGE", package)
    yield package
    forget()


def forget():
    for name in (
        "_facts",
        "_found",
        "_needs",
        "_reached",
        "digest",
        "mechanisms",
        "schemes",
        "trainings",
        "figures",
    ):
        getattr(sources, name).cache_clear()


def digest(*parts, **options):
    """Return the digest of files, or of entries by table and name, as they are now."""
    forget()
    known = {"mechanisms": sources.mechanisms, "figures": sources.figures}
    known |= {name: lambda name=name: sources.schemes(name) for name in ("adult", "imdb")}
    found = [known[part[0]]()[part[1]] if isinstance(part, tuple) else part for part in parts]
    return sources.digest(*found, **options)


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


STUDY, MVG, LAPLACE = "cli/trials.py", ("mechanisms", "mvg_binary"), ("mechanisms", "laplace")


def test_a_digest_follows_imports_and_ignores_layout(copy):
    before = digest(STUDY, MVG), digest(STUDY, LAPLACE)
    edit(copy / "mechanisms/mvg.py", '"""The matrix-variate', '# a comment\n"""Another')
    assert (digest(STUDY, MVG), digest(STUDY, LAPLACE)) == before
    edit(copy / "mechanisms/mvg.py", "4 * epsilon", "5 * epsilon")
    assert digest(STUDY, MVG) != before[0]
    assert digest(STUDY, LAPLACE) == before[1]
    edit(copy / "privacy/sensitivity.py", "np.sqrt(2)", "np.sqrt(3)")
    assert digest(STUDY, LAPLACE) != before[1]


def test_a_digest_covers_the_verb_and_no_other(copy):
    before = digest(STUDY)
    edit(copy / "cli/audit.py", "def run", "SCALE = 1\n\n\ndef run")
    assert digest(STUDY) == before
    edit(copy / "cli/trials.py", "mechanisms, folder", "mechanisms[:1], folder")
    assert digest(STUDY) != before


def test_a_new_entry_changes_no_other_of_its_file(copy):
    scheme = ("adult", "imgm")
    before = digest(scheme), digest(("mechanisms", "goe"))
    file = copy / "experiments/schemes/gradients.py"
    own = "\n\ndef _mine(plan, **budget):\n    return None\n\n\nSCHEMES = {\n"
    edit(file, "SCHEMES = {\n", f'{own}    "mine": Scheme(_mine),\n')
    edit(
        copy / "mechanisms/gaussian.py",
        "MECHANISMS = {\n",
        'MECHANISMS = {\n    "x": Entry(IMGM),\n',
    )
    assert (digest(scheme), digest(("mechanisms", "goe"))) == before
    # What they share is theirs.
    edit(file, "import numpy as np", "assert True\nimport numpy as np")
    assert digest(scheme) != before[0]


def test_a_label_is_in_the_digest_of_what_shows_it_alone(copy):
    drawn = ("figures", next(iter(sources.figures())))
    parts = [STUDY, MVG], ["cli/audit.py"], ["cli/train.py", ("adult", "imgm")], ["cli/theory.py"]
    before, shown = [digest(*part) for part in parts], digest("cli/figure.py", drawn, shows=True)
    catalogue = copy.parent / "catalogue.yaml"
    edit(catalogue, "label: Laplace", "label: Double exponential")
    assert [digest(*part) for part in parts] == before
    assert digest("cli/figure.py", drawn, shows=True) != shown
    again = digest("cli/figure.py", drawn, shows=True)
    catalogue.write_text("# Why.\n" + catalogue.read_text())
    assert digest("cli/figure.py", drawn, shows=True) == again


def test_words_of_readings_count_where_they_are_shown(copy):
    before = digest(STUDY), digest(STUDY, shows=True)
    edit(copy.parent / "readings.yaml", "title: JL", "title: Sketch")
    assert digest(STUDY) == before[0]
    assert digest(STUDY, shows=True) != before[1]


def test_versions_of_packages_count(copy, monkeypatch):
    before = digest(STUDY)
    real = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "9.9" if name == "numpy" else real(name)
    )
    sources._version.cache_clear()
    changed = digest(STUDY)
    monkeypatch.undo()
    sources._version.cache_clear()
    assert changed != before


def test_facts_are_kept_between_parses(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "CACHE", tmp_path / "facts.json")
    before = digest(STUDY)
    sources._known.new = True
    sources.remember()
    kept = sources._Known()
    assert kept.facts
    monkeypatch.setattr(sources, "_known", kept)
    assert digest(STUDY) == before
    assert not kept.new
    (tmp_path / "facts.json").write_text("{")
    assert not sources._Known().facts
    forget()
