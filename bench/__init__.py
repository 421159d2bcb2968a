"""Benchmarks. Each prints a table of figures beside their budget or a peer. Run one with `python -m bench.NAME`."""
