"""Mechanisms that a person can release with, one family a file."""
