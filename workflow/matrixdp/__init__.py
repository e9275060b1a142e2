"""Private release of matrices: mechanisms, their exact privacy, and the study that compares them.

Records are columns throughout: a data matrix is m features by n records. Whatever is out of its
range raises :class:`~matrixdp.checks.InputError`; docstrings name the errors beyond that.
"""
