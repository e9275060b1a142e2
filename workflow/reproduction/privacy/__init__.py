"""Accountants and privacy curves that the study alone uses."""
