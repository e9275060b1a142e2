import distinctrun
import pytest
import synthetic

from matrixdp.report import tables


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with the summaries of all experiments."""
    return synthetic.write(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return a folder with a run of which no two results are alike."""
    folder = tmp_path_factory.mktemp("distinct")
    distinctrun.write(folder)
    tables.write(["table2"], results=folder)
    return folder


@pytest.fixture(scope="module")
def cells():
    """Return the cells of that run."""
    return distinctrun.cells()
