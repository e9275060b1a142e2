"""All wrong mechanisms and their correct twins."""

from wrong import densities, hidden, laws, parts, records, scales, statements, whitening

CASES = (
    *whitening.CASES,
    *hidden.CASES,
    *statements.CASES,
    *scales.CASES,
    *records.CASES,
    *laws.CASES,
    *densities.CASES,
    *parts.CASES,
)
