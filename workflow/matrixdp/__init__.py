"""Private release of matrices: mechanisms, their exact privacy, and the study that compares them.

Floors, from the ground up: ``checks`` and ``files``; ``privacy`` and ``noise``; ``mechanisms``;
``tasks``; ``study``. ``data`` and ``results`` stand apart. Records are columns throughout: a data
matrix is m features by n records.
"""
