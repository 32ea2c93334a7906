"""Scale Right: the economics and physics of AI compute, from a chip's datasheet to the price of a
token.
"""

__version__ = "0.1.0"
