"""The curve of a sketch is that of one record, and proves nothing of a person with several."""

from dataclasses import replace

import numpy as np
import pytest

from matrixdp.auditing.releases import audit_of
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from reproduction.mechanisms.jl import JohnsonLindenstrauss


@pytest.mark.parametrize(("per_person", "proven"), [(None, True), (1, True), (5, False)])
def test_a_sketch_is_proven_for_one_record(per_person, proven):
    query = SecondMomentQuery(Box.cube(4, -1, 1), 100)
    release = JohnsonLindenstrauss().calibrate(query, epsilon=1.0, delta=1e-6)
    release = replace(release, query=replace(query, per_person=per_person))
    assert audit_of(release, np.random.default_rng(0)).proven == proven
