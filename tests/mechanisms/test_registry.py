import pytest

from matrixdp import mechanisms
from matrixdp.checks import InputError


def test_a_mechanism_is_found_by_its_name_alone():
    for name, entry in mechanisms.registry().items():
        assert mechanisms.find(name) is entry
    with pytest.raises(InputError, match="mechanism is 'laplas'; did you mean 'laplace'"):
        mechanisms.find("laplas")
