"""All wrong mechanisms and their honest twins."""

from wrong import classes, draws, parts, programs, sizes

CASES = (*classes.CASES, *draws.CASES, *sizes.CASES, *programs.CASES, *parts.CASES)
