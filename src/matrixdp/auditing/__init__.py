"""Whether each mechanism is as private as it says: exact curves, attacks, and what runs prove."""
