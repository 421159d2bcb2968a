"""Donna: the memory of your vault, in the terminal."""

__version__ = "0.1.0"
