"""Rank the mechanisms for a query by their noise, from public facts alone.

The specification is that of `matrixdp release`. The account limits the mechanisms to those that
fit. The file of records is read only with --look-at-the-data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matrixdp.release.recommend import Option
    from matrixdp.release.specification import Specification


def run(specification: str, *, error: str = "", look_at_the_data: bool = False) -> None:
    """List the mechanisms, the least noise first, with details on the first one.

    Args:
        specification: TOML file that specifies the release
        error: required noise as a share of the largest deviation, such as 0.05
        look_at_the_data: add the errors on the file itself, which are NOT PRIVATE
    """
    import sys

    from matrixdp.checks import InputError, number
    from matrixdp.release import choices, receipt
    from matrixdp.release.specification import read_all

    share = number(error=error) if error else 0.0
    specs, firsts = read_all(Path(specification)), []
    for spec in specs:
        for note in filter(None, [choices.proposal(spec), *receipt.cautions(spec)]):
            print(f"note: {note}", file=sys.stderr)
        if share and spec.query_name == "regression":
            raise InputError("error has no meaning for a regression; leave --error out")
        if len(specs) > 1:
            print(f"{spec.name}: epsilon {spec.epsilon:.3g}")
        firsts.append(_recommend(spec, share, look_at_the_data, among=len(specs)))
    if len(specs) > 1:
        print(choices.together(specs, firsts))


def _recommend(spec: Specification, share: float, look_at_the_data: bool, among: int) -> Option:
    """Print the mechanisms of one release among several, and return the first one."""
    from matrixdp.checks import InputError, plural
    from matrixdp.release import choices, receipt, release

    fitting = choices.rank(spec)
    listed = [option for option, _ in fitting]
    width = max(len(option.name) for option in listed)
    for option, room in fitting:
        more = f"; the account has room for {plural(room, 'more such release')} then"
        print(f"{option.name:{width}}  {receipt.says(spec, option)}{more * (among == 1)}")
    for line in [*receipt.comparison(spec, listed), *receipt.in_words(spec, listed[0])]:
        print(line)
    if spec.people:
        print(f"records that count: {receipt.counted(spec)}")
    if spec.query_name != "regression":
        try:
            paid = f"epsilon {choices.price(spec):.3g}"
        except InputError as problem:
            paid = f"none that can be paid: {problem}"
        if share:
            print(f"noise of {share:.3g} {receipt.needs(choices.needed(spec, share))}")
        print(f"price of privacy (noise of half of the largest deviation): {paid}")
    if look_at_the_data:
        print(
            "NOT PRIVATE, for the owner of the data alone: the error on this file, in half ranges"
        )
        for name, off in release.compare(spec).items():
            print(f"{name:{width}}  NOT PRIVATE  {off:.2%}")
    return listed[0]
