"""Audits of the papers' mechanisms, of private training, and the audit's negative control."""
