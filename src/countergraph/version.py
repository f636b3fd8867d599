"""The version, in one place."""

__version__ = "0.10.0"
