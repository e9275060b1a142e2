"""Audits of the papers' mechanisms, of private training, and known-bug tests."""
