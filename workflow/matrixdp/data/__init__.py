"""Data sets: from a mirror, a download or a stand-in to a matrix with its provenance.

``catalogue`` reads workflow/datasets.yaml, ``fetch`` and ``archives`` get the files, one module a
data set reads them, ``scaling`` makes the matrix, ``simulate`` the stand-ins, and ``store`` ties
these together. To add a data set: an entry in datasets.yaml and a module of the same name with
``read(members) -> records`` (n x m, original units).
"""

from matrixdp.data.store import Dataset, load, prepare, refresh, warn_of_stand_ins

__all__ = ["Dataset", "load", "prepare", "refresh", "warn_of_stand_ins"]
