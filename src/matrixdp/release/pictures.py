"""Pictures of the noise of a release over epsilon, from public facts alone.

matplotlib must be installed; nothing else of the library needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixdp import checks
from matrixdp.auditing.status import CERTIFIED
from matrixdp.checks import InputError, plural
from matrixdp.mechanisms.composed import ComposedMoments
from matrixdp.privacy.sensitivity import Query
from matrixdp.release import choices, recommend
from matrixdp.release.recommend import Option
from matrixdp.release.specification import Specification, name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Formats of a picture.
SUFFIXES = (".svg", ".png", ".pdf")

#: Epsilons over the stated one: two decades, which the middle one halves.
_FACTORS = np.geomspace(0.1, 10, 33)

#: What the noise of clipped moments is a share of: the radius is unknown before the release.
_RADIUS = "what records that fill the radius allow"

#: Colours that all kinds of sight tell apart (Okabe & Ito), and styles of lines for print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", "-.", ":")


def plot_error(query: Query, *, epsilon: float, delta: float, **arguments: Any) -> Figure:
    """Return a figure of each mechanism's noise, at epsilons from a tenth to ten times the stated.

    No data are read. The noise is the ``error`` of :class:`~matrixdp.release.recommend.Option`.

    Args:
        query: the query, with its public bounds.
        epsilon, delta: the guarantee, whose epsilon is marked.
        arguments: as of :func:`~matrixdp.release.recommend.options`.

    Raises:
        InputError: matplotlib is not installed, or as :func:`~matrixdp.release.recommend.options`.

    >>> query = mdp.MeanQuery(mdp.Box((0, 0), (120, 200_000)), n_records=400)
    >>> figure = mdp.plot_error(query, epsilon=1, delta=1e-6)
    >>> figure.axes[0].get_xlabel()
    'epsilon, at delta 1e-06'
    """

    def options(value: float) -> list[Option]:
        return recommend.options(query, epsilon=value, delta=delta, **arguments)

    title = f"{name_of(query)}, {plural(query.n_records, 'record')}"
    return _figure(options, epsilon, delta, title)


def save(spec: Specification, path: Path) -> None:
    """Write the picture of a specification's mechanisms to a file.

    Raises:
        InputError: the name has another suffix than ``SUFFIXES``, the file cannot be written, or as
            :func:`plot_error`.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"picture is {str(path)!r}; give a name that ends in {', '.join(SUFFIXES)}"
        )

    def options(value: float) -> list[Option]:
        return choices.candidates(replace(spec, epsilon=value, mu=None))

    title = f"{spec.name}, {plural(spec.query.n_records, 'record')}"
    indirect = spec.query_name not in ("records", "mean", "second_moments")
    figure = _figure(
        options, spec.epsilon, spec.delta, title, "second moments" if indirect else "numbers"
    )
    with checks.as_input_error(f"{path} cannot be written ({{why}}); give another --picture"):
        figure.savefig(path, dpi=150)


def _figure(
    options: Callable[[float], Sequence[Option]],
    epsilon: float,
    delta: float,
    title: str,
    what: str = "numbers",
) -> Figure:
    """Return a figure of the noise in ``what`` of the options at each epsilon."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter, LogLocator
    except ImportError:
        raise InputError(
            "a picture needs the package matplotlib; install it, or ask for none"
        ) from None
    stated = {_name(option): option for option in options(checks.positive(epsilon=epsilon))}
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in stated}
    for value in (epsilon * _FACTORS).tolist():
        try:
            ranking = options(value)
        except InputError:
            # No safe noise gives this epsilon.
            continue
        for option in ranking:
            curves.setdefault(_name(option), []).append((value, option.error))
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log")
    for place, (name, points) in enumerate(curves.items()):
        label, colour = name, _COLOURS[place % len(_COLOURS)]
        if name in stated:
            label = f"{name}: {_percent(stated[name].error)} at epsilon {_plain(epsilon)}"
            if isinstance(stated[name].release, ComposedMoments) and len(stated) > 1:
                label += f",\nof {_RADIUS}"
            axes.plot(epsilon, stated[name].error, "o", color=colour)
        style = _STYLES[place % len(_STYLES)]
        axes.plot(*zip(*points, strict=True), style, color=colour, label=label)
    axes.axvline(epsilon, color="0.3", linewidth=1, linestyle=(0, (5, 3)))
    if axes.get_ylim()[1] > 0.5:
        axes.axhline(1, color="0.3", linewidth=1)
        axes.annotate(
            "above this line noise hides everything",
            (0.99, 1),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            color="0.3",
        )
    share = "the largest deviation that the bounds allow"
    if all(isinstance(option.release, ComposedMoments) for option in stated.values()):
        share = _RADIUS
    axes.set_title(title)
    axes.set_xlabel(f"epsilon, at delta {delta:g}")
    axes.set_ylabel(f"noise in the {what} (root mean square),\nas a share of {share}")
    for axis, text in ((axes.xaxis, _plain), (axes.yaxis, _percent)):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _, text=text: text(value)))
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    axes.grid(color="0.9")
    axes.legend(frameon=False)
    return figure


def _name(option: Option) -> str:
    """Return the name of an option, marked where another author's class declares its guarantee."""
    return option.name if option.status == CERTIFIED else f"{option.name} ({option.status} only)"


def _plain(value: float) -> str:
    return f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
