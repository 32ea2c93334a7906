"""Judgment: one module per framework of the five documents, each ending in one shared
`Verdict`.
"""
