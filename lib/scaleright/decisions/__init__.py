"""Judgment: one module per framework of the source documents, each ending in one shared
`Verdict`.
"""
