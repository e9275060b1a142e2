"""The replication article: text and figures by name, every number from the results of a run."""
