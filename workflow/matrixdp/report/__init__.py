"""From the files that the trials leave to what a person reads: summaries, tables, timing."""
