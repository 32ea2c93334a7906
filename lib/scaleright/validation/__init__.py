"""Predicted against measured: every kind of evidence, one report.

`kinds.validate` hands out the rows of a kind with their signed errors and what sums them up;
`report.judged` those of one kind, for who needs no other.
"""
