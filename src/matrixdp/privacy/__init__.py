"""Privacy guarantees: exact privacy curves, their calibration, and sensitivities of queries."""
