"""Private releases of files: specification, answer, receipt and account."""

import sys
from types import ModuleType
from typing import NoReturn


class _Package(ModuleType):
    """A package whose name reads like a function."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Say which function is meant."""
        raise TypeError(f"{__name__} is a package; call matrixdp.make_release")


sys.modules[__name__].__class__ = _Package
