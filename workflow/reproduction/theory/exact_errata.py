"""Errors in the papers, each as numbers that show it.

``expected`` is the number for which the printed text would be right. A different value shows the
erratum; its alteration is the correction. Errata that a claim's check covers are not repeated here.
Misprints that matter for no guarantee and no result have no check.
"""

from __future__ import annotations

import numpy as np

from matrixdp.privacy import gaussian_dp
from reproduction.mechanisms import wishart
from reproduction.mechanisms.allocation import MaxPNR
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.gaussian import IMGM, GaussianByEntry
from reproduction.mechanisms.mvg import MVG, AlongPrivateDirections, coefficients, largest_phi
from reproduction.privacy import published
from reproduction.privacy.published import CTG, LIVER, MOVEMENT
from reproduction.theory.exact_imgm import DELTA, EPSILON
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

#: Records in a lot of the IMGM paper's images, and in a batch of the authors' code.
LOT, BATCH = 1024, 64


@check("zeta_without_root", {"the root": {"zeta": "sqrt"}})
def zeta_without_root(_stream: Stream, *, zeta: str = "literal") -> Numbers:
    """Table 1 prints the bound on the squared norm in place of the bound on the norm."""
    for name, query, theorem in (
        ("I", LIVER, 2),
        ("II, Theorem 2", MOVEMENT, 2),
        ("II, Theorem 3", MOVEMENT, 3),
        ("III", CTG, 2),
    ):
        literal_noise, root_noise = (
            MVG(theorem=theorem, zeta=option)
            .calibrate(query, epsilon=EPSILON, delta=1 / query.n_records)
            .noise_std
            for option in (zeta, "sqrt")
        )
        yield Number(
            f"noise as printed over noise with the root, experiment {name}",
            literal_noise / root_noise,
            "=",
            1,
        )


@check("maxpnr_records", {"an exact share": {"exact": True}})
def maxpnr_records(_stream: Stream, *, exact: bool = False) -> Numbers:
    """Section 8.1.3: noise on records along private directions, over what its share needs.

    Most of what max-PNR delivers is spent by its private SVD. The noise on the released direction
    of the records has the deviation 1 / sqrt(limit) at least, whatever the spectrum.
    """
    svd = PrivateDirections()
    whole, rest = 1 / LIVER.n_records, 1 - svd.budget_fraction
    release = MVG(allocation=MaxPNR(), directions=svd).calibrate(
        LIVER, epsilon=EPSILON, delta=whole
    )
    needed = LIVER.l2_sensitivity / gaussian_dp.mu(rest * EPSILON, rest * whole)
    assert isinstance(release, AlongPrivateDirections)
    deviation = needed if exact else 1 / np.sqrt(release.limit)
    yield Number(
        "noise of max-PNR on records over the needed one", deviation / needed, "=", 1, 1e-9
    )


@check("needless_gamma", {"f(X1)": {"needed": False}})
def needless_gamma(_stream: Stream, *, needed: bool = True) -> Numbers:
    """With f(X1) in place of f(X) the condition is beta phi + H_r s2^2 phi^2 <= 2 epsilon."""
    for name, query in (("I", LIVER), ("II", MOVEMENT), ("III", CTG)):
        delta, s2 = 1 / query.n_records, published.l2_sensitivity(query)
        # omega is 4 H_r gamma s2.
        constants = coefficients(query.shape, gamma=s2 / 4, s2=s2, delta=delta)
        phi_without_gamma = largest_phi(constants.omega, constants.beta, EPSILON)
        phi = MVG().precision_budget(query, epsilon=EPSILON, delta=delta)
        gain = phi_without_gamma / (phi if needed else phi_without_gamma)
        yield Number(f"phi without gamma over phi of Theorem 2, experiment {name}", gain, "=", 1)


@check("data_dependent_noise", {"public data": {"of_the_data": False}})
def data_dependent_noise(stream: Stream, *, of_the_data: bool = True) -> Numbers:
    """Theorem 7 with the spectrum of the data releases one direction at experiment I's budget.

    A direction from the data differs between neighbours, so that their releases never agree.
    """
    data = stream.uniform(-1, 1, size=(6, 248))
    other = data.copy()
    other[:, 0] = np.sign(stream.standard_normal(6))
    spectra = (data, other) if of_the_data else (data, data)
    leading = [np.linalg.eigh(x @ x.T)[1][:, -1] for x in spectra]
    sine = float(np.linalg.norm(leading[0] - leading[1] * (leading[0] @ leading[1])))
    yield Number("sine between the released directions of neighbours", sine, "=", 0, 1e-9)


@check("loose_sensitivity", {"sqrt(2) m c^2 / n": {"root": 2**0.5}})
def loose_sensitivity(_stream: Stream, *, root: float = 1) -> Numbers:
    """Section 8.2.3: the sensitivity of experiment II, here divided by a root."""
    ratio = published.l2_sensitivity(MOVEMENT) / root / MOVEMENT.l2_sensitivity
    yield Number("stated over exact sensitivity, experiment II", ratio, "=", 1, 1e-9)


@check("one_mechanism", {"the classical constant": {"calibration": "2014"}})
def one_mechanism(_stream: Stream, *, calibration: str = "analytic") -> Numbers:
    """Figure 1 shows a gap between two identical mechanisms."""
    imgm, other = (
        kind.calibrate(LIVER, epsilon=EPSILON, delta=DELTA).noise_std
        for kind in (IMGM(), GaussianByEntry(calibration))
    )
    yield Number("noise of IMGM over that of the analytic Gaussian", imgm / other, "=", 1)


@check("clipping", {"2 C": {"constant": 2}, "a sum": {"average": False}})
def clipping(stream: Stream, *, constant: float = 1, average: bool = True) -> Numbers:
    """Type I: the query is called an average of clipped gradients, and its sensitivity C."""
    gradients = stream.standard_normal((LOT, 5))
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    for name, other, divided in (
        ("average, a record added or left out", 0.0, average),
        ("sum, a record added or left out", 0.0, False),
        ("sum, a record replaced", -1.0, False),
    ):
        changed = gradients * np.where(np.arange(LOT)[:, None] == 0, other, 1)
        change = float(np.linalg.norm(gradients.sum(axis=0) - changed.sum(axis=0)))
        share = change / (constant * (LOT if divided else 1))
        yield Number(f"change over C, lots of {LOT}, {name}", share, "=", 1, 1e-9)


@check("clipped_nodes", {"no neighbours": {"leaves": 0}})
def clipped_nodes(_stream: Stream, *, leaves: int = 10) -> Numbers:
    """Cora: one node also changes the clipped gradients of its neighbours, here in a star.

    The model is a graph convolution with one weight, 0, under the logistic loss. The features of
    the middle node change sign. Clipping node by node allows a change of 2 C, with C = 1.
    """
    features = np.zeros(leaves + 1)
    features[0] = 10.0
    graph = np.eye(leaves + 1)
    graph[0] = graph[:, 0] = 1
    graph /= graph.sum(axis=1, keepdims=True)
    # All labels are 1, and the model gives each the probability 1 / 2.
    sums = [np.clip(-0.5 * graph @ x, -1, 1).sum() for x in (features, -features)]
    share = float(abs(sums[0] - sums[1]) / 2)
    what = "change of the sum of clipped gradients over 2 C, a node with ten neighbours"
    yield Number(what, share, "<=", 1)


@check("divided_noise", {"not divided": {"power": 0}})
def divided_noise(_stream: Stream, *, power: float = 0.5) -> Numbers:
    """The authors' code divides the noise on a batch by a root, and sums the batches of a lot."""
    for batch in (BATCH, LOT):
        std = np.linalg.norm(np.full(LOT // batch, batch**-power))
        what = f"noise on the sum of a lot of {LOT} over the calibrated one, batches of {batch}"
        yield Number(what, float(std), ">=", 1)


@check("variance_for_root", {"the root": {"power": 0.5}})
def variance_for_root(_stream: Stream, *, power: float = 1) -> Numbers:
    """The authors' code multiplies normal noise by the variances that MVG allows."""
    release = MVG().calibrate(LIVER, epsilon=EPSILON, delta=1 / 248)
    ratio = (release.noise_std**2) ** power / release.noise_std
    yield Number("noise of the code over that of MVG, experiment I", ratio, "=", 1, 1e-9)


@check("local_change", {"removing": {"change": 1}})
def local_change(_stream: Stream, *, change: float = 2) -> Numbers:
    """DP-Forward's code: noise for a change of 1, where any input of norm 1 is a neighbour."""
    real = gaussian_dp.epsilon(DELTA, change * gaussian_dp.mu(EPSILON, DELTA))
    yield Number("tight epsilon at claimed 1", real, "<=", EPSILON, 1e-9)


@check("adassp_constant", {"exact noise": {"exact": True}})
def adassp_constant(_stream: Stream, *, exact: bool = False) -> Numbers:
    """AdaSSP's code: three parts, of deviation sqrt(ln(6 / delta)) / (epsilon / 3) each."""
    delta = 1e-6

    def mu(claimed: float) -> float:
        share = gaussian_dp.mu(claimed / 3, delta / 3)
        return float(share if exact else claimed / 3 / np.sqrt(np.log(6 / delta)))

    part = float(gaussian_dp.epsilon(delta / 3, mu(EPSILON)))
    yield Number("tight epsilon of a part, claimed 1/3", part, "<=", EPSILON / 3, 1e-9)
    whole = float(gaussian_dp.epsilon(delta, np.sqrt(3) * mu(40)))
    yield Number("tight epsilon of all parts, claimed 40", whole, "<=", 40, 1e-9)


@check("wishart_support", {"the other way round": {"removed": False}})
def wishart_support(_stream: Stream, *, removed: bool = True) -> Numbers:
    """A release of the Wishart mechanism is nowhere below the value of the larger neighbour.

    After a record is removed the release is below that value with positive probability.
    """
    probability = wishart.disclosure_probability(EPSILON) if removed else 0.0
    yield Number("probability of what the neighbour cannot release", probability, "=", 0, 1e-9)
