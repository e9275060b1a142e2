"""Noise distributions as values, and safe sampling."""
