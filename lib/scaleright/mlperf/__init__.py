"""Published MLPerf results: as submitted, and per accelerator.

A value per accelerator is derived by this book; it is not an official MLPerf metric.
"""

from scaleright.mlperf.plausibility import suspects
from scaleright.mlperf.results import FLAGS, ROUNDS, Flag, cleaning_report, comparable, results, submission

__all__ = ["FLAGS", "ROUNDS", "Flag", "cleaning_report", "comparable", "results", "submission", "suspects"]
