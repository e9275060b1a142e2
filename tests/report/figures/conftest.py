import pytest
import synthetic


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with the summaries of all experiments."""
    return synthetic.write(tmp_path_factory.mktemp("results"))
