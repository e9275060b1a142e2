"""Reports from the files of trials: summaries, comparisons, claims, tables, figures, the page."""
