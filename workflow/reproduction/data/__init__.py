"""Data sets: from a mirror, a download or a stand-in to arrays with their provenance.

``datasets`` reads workflow/datasets.yaml, ``download`` gets the files, and one module per data set
reads them. ``store`` calls these and writes the files that ``prepared`` loads. A data set is one of
two kinds:

- a matrix for the private queries (``matrices``): ``scaling`` puts it in a public box. To add one:
  an entry in datasets.yaml and a module of the same name with ``read(members) -> records`` (n x m,
  original units).
- a learning set for the neural experiments (``learning``). To add one: an entry without
  ``scalings`` and a module with ``read(members) -> Encoded``. To have a stand-in, which a matrix
  has by its shape, it needs its classes and arrays in ``simulate``.
"""

from reproduction.data.prepared import Dataset, LearningSet, load, load_arrays

__all__ = ["Dataset", "LearningSet", "load", "load_arrays"]
