"""Private release of matrices: mechanisms, their exact privacy, and the study that compares them.

For a matrix of your own, with public bounds of its records::

    import matrixdp as mdp

    query = mdp.SecondMoments(mdp.Box(low, high), records=2126)
    mechanism = mdp.recommend(query, epsilon=1, delta=1e-6)
    release = mechanism.calibrate(query, epsilon=1, delta=1e-6)
    private = release.sample_once(records)  # one record per row

Inside, records are columns: a data matrix is m features by n records. Whatever is out of its range
raises :class:`~matrixdp.checks.InputError`; docstrings name the errors beyond that.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from matrixdp.version import VERSION as __version__

if TYPE_CHECKING:
    from matrixdp.checks import InputError as InputError
    from matrixdp.mechanisms.directional import DirectionalGaussian as DirectionalGaussian
    from matrixdp.mechanisms.gaussian import GOE as GOE
    from matrixdp.mechanisms.gaussian import AnalyzeGauss as AnalyzeGauss
    from matrixdp.mechanisms.gaussian import Gaussian as Gaussian
    from matrixdp.mechanisms.laplace import Laplace as Laplace
    from matrixdp.practice.estimators import PrivatePCA as PrivatePCA
    from matrixdp.practice.estimators import PrivateRidge as PrivateRidge
    from matrixdp.practice.recommend import options as options
    from matrixdp.practice.recommend import recommend as recommend
    from matrixdp.privacy.domain import Ball as Ball
    from matrixdp.privacy.domain import Box as Box
    from matrixdp.privacy.sensitivity import Covariance as SecondMoments
    from matrixdp.privacy.sensitivity import Identity as Records
    from matrixdp.privacy.sensitivity import Mean as Mean

#: Public names: where each one is, and what it is called there. Imported when they are used.
_PUBLIC = {
    "AnalyzeGauss": ("mechanisms.gaussian", "AnalyzeGauss"),
    "Ball": ("privacy.domain", "Ball"),
    "Box": ("privacy.domain", "Box"),
    "DirectionalGaussian": ("mechanisms.directional", "DirectionalGaussian"),
    "GOE": ("mechanisms.gaussian", "GOE"),
    "Gaussian": ("mechanisms.gaussian", "Gaussian"),
    "InputError": ("checks", "InputError"),
    "Laplace": ("mechanisms.laplace", "Laplace"),
    "Mean": ("privacy.sensitivity", "Mean"),
    "PrivatePCA": ("practice.estimators", "PrivatePCA"),
    "PrivateRidge": ("practice.estimators", "PrivateRidge"),
    "Records": ("privacy.sensitivity", "Identity"),
    "SecondMoments": ("privacy.sensitivity", "Covariance"),
    "options": ("practice.recommend", "options"),
    "recommend": ("practice.recommend", "recommend"),
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, there = _PUBLIC[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), there)


def __dir__() -> list[str]:
    return __all__
