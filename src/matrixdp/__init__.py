"""Private release of matrices: mechanisms, their exact privacy, audits, receipts and accounts.

Three ways lead from records, one per row, to a release:

- :func:`make_release`, as on the command line, for an answer with its intervals and receipt;
  :func:`recommend` says before what its noise will be, and costs nothing;
- :class:`Covariance`, :class:`PrivatePCA` and :class:`PrivateRidge` in scikit-learn's pipelines,
  or :class:`PrivateMoments`, of which all three are read at one charge;
- a query and a mechanism, for what has no name there, such as a mechanism of your own.
  :func:`compare_mechanisms` has their noise, and :func:`audit` tests any mechanism or function.

An :class:`Account` (diffprivlib's accountant) adds up the releases of each. Bounds that nobody
knows :func:`private_bounds` finds. The third way:

>>> import matrixdp as mdp, numpy as np
>>> records = np.random.default_rng(1).uniform((0, 0), (120, 200_000), (400, 2))
>>> query = mdp.SecondMomentQuery(mdp.Box((0, 0), (120, 200_000)), n_records=400)
>>> mechanism = mdp.compare_mechanisms(query, epsilon=1, delta=1e-6)[0].mechanism
>>> calibrated = mechanism.calibrate(query, epsilon=1, delta=1e-6)
>>> calibrated.release(records).shape
(2, 2)

Every function takes records as rows, (n, m); formulas and the ``shape`` of a query have them as
columns, (m, n). Whatever is out of its range raises :class:`InputError`; docstrings name the errors
beyond that.
"""

import importlib

#: As in typing, without its import: what comes before ``__main__`` cannot catch an interrupt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from matrixdp.auditing.public import AuditResult as AuditResult
    from matrixdp.auditing.public import audit as audit
    from matrixdp.checks import InputError as InputError
    from matrixdp.estimators import Covariance as Covariance
    from matrixdp.estimators import PrivateMoments as PrivateMoments
    from matrixdp.estimators import PrivatePCA as PrivatePCA
    from matrixdp.estimators import PrivateRidge as PrivateRidge
    from matrixdp.mechanisms.additive import AdditiveMechanism as AdditiveMechanism
    from matrixdp.mechanisms.directional import DirectionalGaussian as DirectionalGaussian
    from matrixdp.mechanisms.gaussian import AnalyzeGauss as AnalyzeGauss
    from matrixdp.mechanisms.gaussian import Gaussian as Gaussian
    from matrixdp.mechanisms.laplace import Laplace as Laplace
    from matrixdp.mechanisms.mechanism import PrivacyStatement as PrivacyStatement
    from matrixdp.mechanisms.scaled import MinMaxScaled as MinMaxScaled
    from matrixdp.privacy.domain import Ball as Ball
    from matrixdp.privacy.domain import Box as Box
    from matrixdp.privacy.sensitivity import MeanQuery as MeanQuery
    from matrixdp.privacy.sensitivity import RecordsQuery as RecordsQuery
    from matrixdp.privacy.sensitivity import SecondMomentQuery as SecondMomentQuery
    from matrixdp.release.account import Account as Account
    from matrixdp.release.comparison import Option as Option
    from matrixdp.release.comparison import compare_mechanisms as compare_mechanisms
    from matrixdp.release.people import bound_contributions as bound_contributions
    from matrixdp.release.publications import make_release as make_release
    from matrixdp.release.publications import private_bounds as private_bounds
    from matrixdp.release.publications import recommend as recommend
    from matrixdp.release.publications import sums as sums
    from matrixdp.release.sums import Sums as Sums
    from matrixdp.version import VERSION as __version__

#: The module of each public name, in the order of use; it is imported on first use.
_MODULES = {
    "Box": "privacy.domain",
    "Ball": "privacy.domain",
    "RecordsQuery": "privacy.sensitivity",
    "MeanQuery": "privacy.sensitivity",
    "SecondMomentQuery": "privacy.sensitivity",
    "compare_mechanisms": "release.comparison",
    "Option": "release.comparison",
    "Gaussian": "mechanisms.gaussian",
    "Laplace": "mechanisms.laplace",
    "AnalyzeGauss": "mechanisms.gaussian",
    "DirectionalGaussian": "mechanisms.directional",
    "MinMaxScaled": "mechanisms.scaled",
    "AdditiveMechanism": "mechanisms.additive",
    "PrivacyStatement": "mechanisms.mechanism",
    "audit": "auditing.public",
    "AuditResult": "auditing.public",
    "recommend": "release.publications",
    "private_bounds": "release.publications",
    "make_release": "release.publications",
    "sums": "release.publications",
    "Sums": "release.sums",
    "bound_contributions": "release.people",
    "Account": "release.account",
    "Covariance": "estimators",
    "PrivatePCA": "estimators",
    "PrivateRidge": "estimators",
    "PrivateMoments": "estimators",
    "InputError": "checks",
}
__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    if name == "__version__":
        # Not imported before it is shown: no result depends on it.
        return importlib.import_module(f"{__name__}.version").VERSION
    if name not in _MODULES:
        near = [public for public in __all__ if name and name.lower() in public.lower()]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        message = f"{__name__}.{name} needs scikit-learn; `pip install scikit-learn`"
        raise ImportError(message) from None


def __dir__() -> list[str]:
    return __all__
