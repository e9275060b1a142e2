"""Noise of density in steps: pure differential privacy."""
