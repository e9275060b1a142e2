"""What a guarantee is: exact curves, their calibration, and what a query can leak."""
