"""Modules of mechanisms that count as the library's own, and the audits of their releases."""

#: Modules of :mod:`reproduction.mechanisms` whose classes the study vouches for. Another file there
#: may be anybody's.
MODULES = (
    *("adaptive", "adassp", "allocation", "directional", "directions", "exponential"),
    *("gaussian", "generalized_gamma", "jl", "mvg", "noise"),
)

#: Audits of releases that the library does not know, as functions of modules of
#: :mod:`reproduction.auditing`, by module and class.
AUDITS = {
    "adaptive:ChosenBySearch": "search:audit_search",
    "adassp:RidgedByHistogram": "adassp:audit_by_histogram",
    "adassp:RidgedEquations": "adassp:audit_equations",
    "exponential:PrincipalDirection": "direction:audit_direction",
    "generalized_gamma:GammaRelease": "generalized_gamma:audit_generalized_gamma",
    "jl:Sketch": "sketch:audit_sketch",
    "mvg:AlongPrivateDirections": "private_directions:audit_private_directions",
}
