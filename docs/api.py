"""Make results/api/index.html from docstrings with pdoc: what `import matrixdp` gives."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pdoc

import matrixdp
from matrixdp.release.outputs import Output

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = {name: getattr(matrixdp, name) for name in matrixdp.__all__}


def main(out: Path = ROOT / "results" / "api") -> None:
    """Write the page, and where to find it."""
    as_readers_know_them()
    pdoc.render.configure(docformat="google", show_source=False, include_undocumented=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Cannot determine where", module="pdoc")
        pdoc.pdoc("matrixdp", output_directory=out)
    print(f"Open {(out / 'index.html').resolve()}")


def as_readers_know_them() -> None:
    """Give what is public its public name, and the arguments that its private bases explain."""
    for name, module in list(sys.modules.items()):
        if name.startswith("matrixdp."):
            # Not what they are made of: pages of numpy.typing.
            short = {"Array": np.ndarray, "ArrayLike": type("array_like", (), {})}
            short["ArrayLike"].__module__ = "builtins"
            vars(module).update({key: one for key, one in short.items() if key in vars(module)})
    classes = {name: one for name, one in PUBLIC.items() if inspect.isclass(one)}
    inherited = {one: explained(one) for one in classes.values()}
    for name, one in classes.items():
        # Annotations are looked up where a class says that it is from.
        for other, value in vars(sys.modules[one.__module__]).items():
            vars(matrixdp).setdefault(other, value)
        one.__module__, one.__name__, one.__qualname__ = "matrixdp", name, name
        if "__firstlineno__" in vars(one):
            # Since Python 3.13: the line of its own file, and not of this module's.
            del one.__firstlineno__
        one.__doc__ = inspect.cleandoc(one.__doc__ or "") + inherited[one]
        if inspect.isfunction(one.__init__):
            # Shown where a class has its own; what it takes stands in the docstring of the class.
            one.__init__.__doc__ = "@public"
            one.__init__ = one.__init__
        for other in [key for key in vars(one) if re.match("set_.*_request", key)]:
            delattr(one, other)  # scikit-learn's own
    # The type of an attribute of options, which is imported for type checkers alone.
    vars(matrixdp).update(PUBLIC, Output=Output)


def explained(one: type) -> str:
    """Return the lists of arguments and attributes of the bases that have no public name."""
    texts = [
        inspect.cleandoc(base.__doc__)
        for base in one.__mro__[1:]
        if base.__module__.startswith("matrixdp.") and base not in PUBLIC.values() and base.__doc__
    ]
    found = (re.search(r"^(Args|Attributes):.*", text, re.DOTALL | re.MULTILINE) for text in texts)
    stated = inspect.cleandoc(one.__doc__ or "")
    return "".join(f"\n\n{match[0]}" for match in found if match and match[0] not in stated)


if __name__ == "__main__":
    main()
