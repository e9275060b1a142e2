"""The audit of a release that first searches its radius."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from matrixdp import library
from matrixdp.auditing import parts
from matrixdp.auditing.audit import Audit
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.auditing.releases import audit_of
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.parts import covers
from matrixdp.privacy.sensitivity import RecordsQuery
from reproduction.mechanisms.adaptive import ChosenBySearch, SearchNoise, Spectrum

#: Steps of a radius search that are audited; all further ones scale with the radius.
STEPS = 4


def audit_search(release: ChosenBySearch, stream: np.random.Generator) -> Audit:
    """Return the audit of a release that first searches its radius, by the worst radius."""
    proven = proven_mus(release)
    query = release.query
    steps = []
    for moments, spectrum in _steps(release):
        first = audit_of(moments, stream)
        apart = spectrum.eigenvalue_std
        shown = farthest(spectrum.query).size / apart if apart else 0.0
        steps.append((float(np.hypot(first.mu, shown)), first))
    trace = 1 / (query.n_records * release.trace_std)
    rest = max(mu for mu, _ in steps)
    return ComposedAudit(release, [trace, _search_mu(release), rest], steps[0][1], proven)


def _steps(release: ChosenBySearch) -> Iterator[tuple[AdditiveGaussian, Spectrum]]:
    """Yield the releases of each audited step: of moments, and of their spectrum."""
    for number in range(2 * STEPS):
        moments, spectrum = release.release_at(number)
        assert isinstance(spectrum, Spectrum)
        yield moments, spectrum


def proven_mus(release: ChosenBySearch) -> list[float]:
    """Return upper bounds on the mu of the parts; NaN where nothing is proven."""
    query = release.query
    source = release.source
    # The trace and the search are bounded for one record.
    if not (library.owns(release) and proofs.owned(query) and query.group == 1):
        return [proofs.UNPROVEN]
    records = type(query) is RecordsQuery and type(source.domain) is type(query.domain)
    same = records and source.domain == query.domain
    if not (same and covers(source, query, query.adjacency)):
        return [proofs.UNPROVEN]
    rest = []
    for moments, spectrum in _steps(release):
        apart = spectrum.eigenvalue_std
        shown = spectrum.query.l2_sensitivity / apart if apart else 0.0
        rest.append(float(np.linalg.norm([*parts.proven_mus(moments), shown])))
    trace = 1 / (query.n_records * release.trace_std)
    return [trace, _search_mu(release), max(rest)]


def _search_mu(release: ChosenBySearch) -> float:
    """Return mu of the search, by the scales of its noise: see Dwork & Roth (2014), Theorem 3.23.

    One record changes an answer by 1. The threshold costs 1 / scale, and the answers 2 / scale.
    """
    noise = release.comparison.noise
    assert isinstance(noise, SearchNoise)
    threshold, *answers = noise.scales.ravel().tolist()
    epsilon = 1 / threshold + 2 / min(answers)
    # An epsilon-DP release is mu-Gaussian DP with Phi(mu / 2) = 1 / (1 + e^-epsilon).
    return 2 * float(special.ndtri(special.expit(epsilon)))
