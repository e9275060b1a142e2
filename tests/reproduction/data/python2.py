"""Pickles as Python 2 wrote them (protocol 2), opcode by opcode."""

import struct

import numpy as np


def array(values, code):
    """Return the opcodes of an array of this type (i4, f4 or u1)."""
    values = np.asarray(values)
    order = b"|" if code == "u1" else b"<"
    raw = values.astype(np.dtype(code).newbyteorder(order.decode())).tobytes()
    shape = b"(" + b"".join(b"J" + struct.pack("<i", size) for size in values.shape) + b"t"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01"
        + shape
        + b"cnumpy\ndtype\n(U\x02"
        + code.encode()
        + b"K\x00K\x01tR(K\x03U\x01"
        + order
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        + struct.pack("<i", len(raw))
        + raw
        + b"tb"
    )


def text(value):
    return b"U" + bytes([len(value)]) + value.encode()


def numbers(values):
    return b"](" + b"".join(b"K" + bytes([value]) for value in values) + b"e"


def dictionary(entries):
    """Return the opcodes of a dictionary: names, and the opcodes of their values."""
    return b"}(" + b"".join(text(name) + value for name, value in entries.items()) + b"u"


def pickled(body):
    return b"\x80\x02" + body + b"."
