"""Benchmarks: each prints a table of figures beside their budget or a peer. To run one: `python -m bench.NAME`."""
