"""Scale Right: the economics and physics of AI compute, from a chip's datasheet to the price of a
token.
"""

__version__ = "0.1.0"
REMEMBERED = "SCALERIGHT_REMEMBERED"
"""The variable that names the folder of what a build finds in the tables, see `catalog.memory`;
here, because a build need not import the tables to set it.
"""
MODULES = "modules.json"
"""The file of that folder with the state of each module."""
