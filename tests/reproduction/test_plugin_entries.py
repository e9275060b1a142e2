"""Mechanisms of other packages: what is read of them, and what a broken one says."""

import sys

import numpy as np
import pytest
from installedpackages import install

import matrixdp as mdp
from matrixdp.checks import InputError
from reproduction import discovery, mechanisms, plugins

CALM = "from matrixdp import Laplace\n\n\nclass Calm(Laplace):\n    pass\n"
POINTS = {"calm": "matrix_noise.calm:Calm"}
MODULES = {"matrix_noise/__init__.py": "", "matrix_noise/calm.py": CALM}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path of Python; what is read of packages is forgotten before and after."""
    monkeypatch.syspath_prepend(tmp_path)
    caches = (plugins.points, discovery.mechanisms)
    for cache in caches:
        cache.cache_clear()
    # Another test may have imported the real package of this name.
    for module in [name for name in sys.modules if name.startswith("matrix_noise")]:
        monkeypatch.delitem(sys.modules, module)
    yield tmp_path
    for cache in caches:
        cache.cache_clear()
    for module in [name for name in sys.modules if name.startswith("matrix_noise")]:
        del sys.modules[module]


def test_a_mechanism_of_another_package_is_one_of_all_and_is_not_imported_for_it(site):
    study = {*discovery.mechanisms()}
    discovery.mechanisms.cache_clear()
    plugins.points.cache_clear()
    install(site, {**MODULES, "matrix_noise/__init__.py": "raise SystemExit('run')"}, POINTS)
    assert {*discovery.mechanisms()} - study == {"calm"}
    entry = discovery.mechanisms()["calm"]
    assert entry.distribution == "matrix-noise 1.0"
    assert not discovery.mechanisms()["laplace"].distribution
    assert "matrix_noise" not in sys.modules


def test_its_entry_makes_the_mechanism(site):
    install(site, MODULES, POINTS)
    made = mechanisms.find_mechanism("calm").build()
    assert type(made).__module__ == "matrix_noise.calm"
    query = mdp.MeanQuery(mdp.Box((0,), (1,)), 10)
    assert np.isclose(made.calibrate(query, epsilon=1, delta=0).epsilon, 1)


@pytest.mark.parametrize(
    ("modules", "points", "message"),
    [
        (
            {"matrix_noise/calm.py": "raise KeyError"},
            POINTS,
            "calm of matrix-noise 1.0.*Ke",
        ),
        ({"matrix_noise/calm.py": "import nowhere_at_all"}, POINTS, "No module named 'nowhere"),
        ({"matrix_noise/calm.py": "def Calm(): raise SystemExit"}, POINTS, "SystemExit.*uninstall"),
        ({"matrix_noise/calm.py": "x = ("}, POINTS, "SyntaxError"),
        ({"matrix_noise/calm.py": "Calm = 3"}, POINTS, "'int' object is not callable"),
        ({"matrix_noise/calm.py": "def Calm(): return 3"}, POINTS, "gives a int, no Mechanism"),
        ({"matrix_noise/calm.py": "Other = 3"}, POINTS, "AttributeError"),
        ({}, {"calm": "matrix_noise.storm:Calm"}, "No module named .matrix_noise.storm"),
        ({}, {"calm": "matrix_noise"}, "calm of matrix-noise 1.0 .*not callable"),
    ],
)
def test_what_a_broken_package_raises_becomes_one_sentence(site, modules, points, message):
    install(site, {"matrix_noise/__init__.py": "", **modules}, points)
    with pytest.raises(InputError, match=message) as error:
        mechanisms.find_mechanism("calm")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"Calm-er": "matrix_noise.calm:Calm"}, "'Calm-er'; write it in lower-case"),
        ({"laplace": "matrix_noise.calm:Calm"}, "matrix-noise 1.0.*'laplace', as laplace.py does"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_the_package(site, points, message):
    install(site, MODULES, points)
    with pytest.raises(InputError, match=message):
        discovery.mechanisms()


def test_two_packages_with_one_name_are_both_named(site):
    install(site, MODULES, POINTS)
    install(site, {}, POINTS, name="other-noise")
    with pytest.raises(InputError, match="both name a mechanism 'calm'") as error:
        discovery.mechanisms()
    assert "matrix-noise 1.0" in str(error.value)
    assert "other-noise 1.0" in str(error.value)
