"""Tables of entries: what is read from the text is what Python has."""

import importlib
import pkgutil

import pytest

from matrixdp.checks import InputError
from reproduction import discovery, experiments, mechanisms, theory
from reproduction.experiments import schemes, tasks


@pytest.mark.parametrize(
    ("package", "table", "entries"),
    [
        (mechanisms, "MECHANISMS", discovery.mechanisms),
        (theory, "THEORY", discovery.theory),
        (tasks, "TASKS", discovery.tasks),
    ],
)
def test_what_is_read_is_what_is_imported(package, table, entries):
    imported = {}
    for module in pkgutil.iter_modules(package.__path__):
        file = importlib.import_module(f"{package.__name__}.{module.name}")
        imported |= getattr(file, table, {})
    assert entries().keys() == imported.keys()
    assert discovery.collect(package, table) == imported
    for name, entry in entries().items():
        for word in ("of_experiment", "parameter", "values", "directed", "needs"):
            if hasattr(imported[name], word):
                value = getattr(imported[name], word)
                assert entry.words.get(word, type(value)()) == value, (name, word)


@pytest.mark.parametrize("training", ["adult", "imdb"])
def test_schemes_are_those_of_their_kind(training):
    known = schemes.registry(discovery.perturbation(training))
    assert discovery.schemes(training).keys() == known.keys()


def test_trainings_and_extractors_are_read_without_jax():
    training = importlib.import_module(f"{experiments.__name__}.training")
    assert all(training.find_training(name).lot for name in discovery.trainings())
    for name in discovery.extractors():
        network = training.find_training(name, "EXTRACTORS")
        assert type(network).__module__.endswith(discovery.extractors()[name].file.stem)
    with pytest.raises(InputError, match="experiment is 'imbd'; did you mean 'imdb'"):
        training.find_training("imbd")


def test_one_entry_is_looked_up_or_named():
    assert discovery.find_entry(mechanisms, "MECHANISMS", mechanism="laplace")
    with pytest.raises(InputError, match="mechanism is 'laplac'; did you mean 'laplace'"):
        discovery.find_entry(mechanisms, "MECHANISMS", mechanism="laplac")


@pytest.mark.parametrize(
    ("files", "places"),
    [
        ({"calm": '{"quiet": 1}', "loud": '{"quiet": 1}'}, "calm.py and loud.py"),
        ({"calm": '{"quiet": 1, "quiet": 2}'}, "calm.py"),
    ],
)
def test_one_name_twice_is_an_error_that_names_the_files(files, places, tmp_path):
    for name, table in files.items():
        (tmp_path / f"{name}.py").write_text(f"\nMECHANISMS = {table}\n")
    with pytest.raises(InputError, match=f"'quiet' twice, in {places}; rename one"):
        discovery.entries(str(tmp_path), "MECHANISMS")


@pytest.mark.parametrize(
    "text",
    [
        "MECHANISMS = {f'mine_{size}': 1 for size in (1, 2)}",
        "MECHANISMS = {}\nfor size in (1, 2):\n    MECHANISMS[f'mine_{size}'] = size",
        "MECHANISMS = {'mine': 1}\nMECHANISMS |= {'other': 2}",
        "MECHANISMS = {'mine': 1, **OTHERS}",
        "MECHANISMS = {f'mine_{SIZE}': 1}",
        "MECHANISMS: dict = dict(mine=1)",
    ],
)
def test_a_table_that_is_no_literal_says_so(text, tmp_path):
    (tmp_path / "calm.py").write_text(f"\n{text}\n")
    with pytest.raises(InputError, match=r"MECHANISMS in calm.py is no literal dictionary"):
        discovery.entries(str(tmp_path), "MECHANISMS")
