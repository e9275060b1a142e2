"""YAML as a person means it: what is taken for something else than stands there is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NoReturn

import yaml

from matrixdp.checks import InputError, said

#: Values in one file: more than these are one that refers to itself, or means no good.
_MOST = 100_000


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses what YAML takes for something else than what stands there."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._checked: set[yaml.Node] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge what ``<<`` names, after a look at the keys that stand there."""
        seen = set()
        for key in [key for key, _ in node.value] if node not in self._checked else ():
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                _refuse(key, f"the key {key.value} stands there twice")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        self._checked.add(node)
        super().flatten_mapping(node)

    def construct_number(self, node: yaml.ScalarNode) -> float:
        """Return a number; those of base 60 and 8 and those with underscores are refused."""
        whole = node.tag.endswith("int")
        read = self.construct_yaml_int if whole else self.construct_yaml_float
        number: float = read(node)
        if not re.fullmatch("[-+]?(0|[1-9][0-9]*)" if whole else "[^:_]+", node.value):
            _refuse(node, f"{node.value} stands for {number}; write it in decimal or in quotes")
        return number


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)


def _refuse(node: yaml.Node, problem: str) -> NoReturn:
    raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def load(file: str | os.PathLike) -> Any:
    """Return what a YAML (or JSON) file says, unless that is not what a reader takes it for.

    Raises:
        InputError: it is missing, not UTF-8 or not YAML, has a key twice, a number that is not
            decimal, or refers to itself.
    """
    if not Path(file).is_file():
        raise InputError(f"{file} is not there, or no file; correct its name")
    with said(f"{file} is not valid YAML ({{why}}); correct it"):
        value = yaml.load(Path(file).read_text(encoding="utf-8"), Loader=_Loader)
        pending, count = [value], 0
        while pending:
            one = pending.pop()
            below = one.values() if isinstance(one, dict) else one
            pending += below if isinstance(one, dict | list) else ()
            if (count := count + 1) > _MOST:
                raise InputError(f"{file} refers to itself, or holds too much; correct it")
        return value
