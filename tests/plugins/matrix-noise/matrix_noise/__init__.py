"""Noise of density in steps, and of density in ellipses: pure differential privacy."""
