"""A package for each chapter, by its name: what stands behind this chapter alone.

`page`: what it shows, its answer card, charts and tables, as functions of the quantities
that the chapter computes. `model`: what only it computes. `evidence`: what it is compared with. A
chapter's notebook holds prose and computation, one line for each display; what two chapters share
stands below them, in the room of its subject. No chapter imports another; the rules of its
parameters and the claims that it checks may ask it.
"""
