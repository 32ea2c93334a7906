"""Measurements by hand, as ratios: `make bench` runs each script of this folder; the tests run each
at a small size (`--quick`), so that none falls out of use.
"""
