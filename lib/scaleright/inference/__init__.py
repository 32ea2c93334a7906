"""Inference: what serving a model takes, from measurements.

`measured`: published throughput, and what it says an input token, an output token and a token of context take.
"""
