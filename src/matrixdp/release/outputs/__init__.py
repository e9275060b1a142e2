"""The outputs of a release, by the value of the key ``query``."""

from collections.abc import Mapping, Sequence
from typing import Any

from matrixdp.release.outputs.bounds import Bounds
from matrixdp.release.outputs.components import Components
from matrixdp.release.outputs.covariance import Covariance
from matrixdp.release.outputs.groups import Counts, Grouped, GroupMean
from matrixdp.release.outputs.mean import Mean
from matrixdp.release.outputs.moments import READINGS as READINGS
from matrixdp.release.outputs.moments import Moments as Moments
from matrixdp.release.outputs.output import Output
from matrixdp.release.outputs.present_mean import PresentMean
from matrixdp.release.outputs.records import Records
from matrixdp.release.outputs.regression import Regression
from matrixdp.release.outputs.second_moments import SecondMoments

#: A new output is a file with its class, and its name here.
OUTPUTS: dict[str, type[Output]] = {
    output.name: output
    for output in (Records, Mean, SecondMoments, Covariance, Components, Regression)
}
#: What is read of the values present, where a missing one is left out.
PRESENT: dict[str, type[Output]] = {PresentMean.name: PresentMean}
#: What is read by group.
BY_GROUP: dict[str, type[Grouped]] = {output.name: output for output in (GroupMean, Counts)}


def serves_present(stated: Mapping[str, Any]) -> bool:
    """Return whether a request of these keys can leave missing values out."""
    query = stated.get("query", Mean.name)
    others = (stated.get(key) is not None for key in ("by", "max_norm"))
    return isinstance(query, str) and query in PRESENT and not any(others)


def kinds(query: str | Sequence[str]) -> list[type[Output]]:
    """Return the classes of a query's answers, in their order."""
    names = [query] if isinstance(query, str) else query
    return [every()[name] for name in names]


def every() -> dict[str, type[Output]]:
    """Return the outputs by name, and those that need no bounds."""
    return {**OUTPUTS, Counts.name: Counts, Bounds.name: Bounds}
