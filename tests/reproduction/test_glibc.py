import ctypes
import os
import subprocess
import sys

import pytest
from packages import PATH

from reproduction import glibc

#: Prints whether glibc maps a large array by itself: ``hblkhd`` of its ``mallinfo`` has the bytes.
MAPPED = """
import ctypes
array = bytearray(2**26)
mallinfo = ctypes.CDLL(None).mallinfo
mallinfo.restype = type("Numbers", (ctypes.Structure,), {"_fields_": [("of", ctypes.c_int * 10)]})
print(mallinfo().of[4] > 2**26)
"""


@pytest.mark.skipif(not glibc._is_glibc(), reason="another C library")
@pytest.mark.parametrize(("start", "mapped"), [("import reproduction.__main__", False), ("", True)])
def test_glibc_keeps_the_memory_of_every_command(start, mapped):
    done = subprocess.run(
        [sys.executable, "-c", start + MAPPED],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(mapped)


@pytest.mark.parametrize("refusal", [AttributeError, ValueError, OSError, None])
def test_without_glibc_nothing_is_called(refusal, monkeypatch):
    def confstr(name):
        if refusal:
            raise refusal(name)

    monkeypatch.setattr(os, "confstr", confstr)
    monkeypatch.setattr(ctypes, "CDLL", None)
    glibc.keep_memory()
