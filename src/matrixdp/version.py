"""The version, once for code and packaging."""

VERSION = "0.2.0"
