"""Modules of mechanisms that count as the library's own, and the audits of their releases."""

#: Modules of :mod:`reproduction.mechanisms` whose classes the study vouches for. Another file there
#: may be anybody's.
MODULES = (
    *("adaptive", "adassp", "allocation", "clipped", "directional", "directions", "exponential"),
    *("gaussian", "generalized_gamma", "jl", "mvg", "noise"),
)

#: Audits of releases that the library does not know, by module and class: functions or classes of
#: :mod:`reproduction.auditing`, called with the release and a Generator.
AUDITS = {
    "adaptive:ChosenBySearch": "search:audit_search",
    "adassp:RidgedByHistogram": "adassp:audit_by_histogram",
    "adassp:RidgedEquations": "adassp:audit_equations",
    "exponential:PrincipalDirection": "direction:DirectionAudit",
    "generalized_gamma:GammaRelease": "generalized_gamma:GeneralizedGammaAudit",
    "jl:Sketch": "sketch:SketchAudit",
    "mvg:AlongPrivateDirections": "private_directions:audit_private_directions",
}
