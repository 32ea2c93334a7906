"""What chapters show: for each a module of its name with its answer card, sentences, charts and
tables, as functions of the quantities that the chapter computes.

A chapter's notebook holds prose and computation, one line for each display; formulas and frames of
data are in the rooms of their subject. A module belongs to its chapter alone: what two chapters
show is a function of `charts`.
"""
