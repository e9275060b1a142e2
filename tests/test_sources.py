import shutil

import pytest

from matrixdp import mechanisms, sources
from matrixdp.experiments import tasks


def test_the_text_knows_the_same_mechanisms_as_the_package():
    registry = mechanisms.registry()
    found = sources.mechanisms()
    assert found.keys() == registry.keys()
    assert {name: source.axes for name, source in found.items()} == {
        name: entry.axes for name, entry in registry.items()
    }


def test_the_text_knows_the_same_tasks_as_the_package():
    assert sources.tasks().keys() == tasks.registry().keys()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    package = tmp_path / "matrixdp"
    shutil.copytree(sources.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", package)
    return package


def digest(*files):
    for cached in (sources._tree, sources._meaning, sources._imports):
        cached.cache_clear()
    return sources.digest(*files)


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_digest_follows_imports_and_ignores_layout(copy):
    study, mvg, laplace = "study.py", "mechanisms/mvg.py", "mechanisms/laplace.py"
    before = digest(study, mvg), digest(study, laplace)
    edit(copy / "mechanisms/mvg.py", '"""The matrix-variate', '# a comment\n"""Another')
    assert (digest(study, mvg), digest(study, laplace)) == before
    edit(copy / "mechanisms/mvg.py", "4 * epsilon", "5 * epsilon")
    assert digest(study, mvg) != before[0]
    assert digest(study, laplace) == before[1]
    edit(copy / "privacy/sensitivity.py", "np.sqrt(2)", "np.sqrt(3)")
    assert digest(study, laplace) != before[1]
