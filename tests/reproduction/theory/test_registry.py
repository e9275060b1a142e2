import pandas as pd
import pytest

from matrixdp.checks import InputError
from reproduction import discovery, theory

NAMES = {"exact", "ellipses", "settings"}


def test_computations_are_found_by_name():
    assert discovery.collect(theory, "THEORY").keys() == NAMES


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_draws(tmp_path):
    written = []
    for k, seed in enumerate((7, 7, 8)):
        theory.write("ellipses", seed=seed, out=tmp_path / f"{k}.csv")
        written.append((tmp_path / f"{k}.csv").read_bytes())
    assert written[0] == written[1]
    assert written[0] != written[2]
    assert len(pd.read_csv(tmp_path / "0.csv")) > 100


def test_an_unknown_name_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(InputError, match="theory is 'ellipse'; did you mean 'ellipses'"):
        theory.write("ellipse", seed=0, out=tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []
