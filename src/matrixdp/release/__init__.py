"""A private release of somebody's own matrix: from a file with public bounds to numbers."""
