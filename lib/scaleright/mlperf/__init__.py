"""Published MLPerf results: as submitted, and per accelerator.

A value per accelerator is derived by this book; it is not an official MLPerf metric.
"""

from scaleright.mlperf.compare import LABEL, RATES, STATISTICS, drift, matched, per_chip, submissions, summary
from scaleright.mlperf.gains import METRICS, Gain, gain, generation_gains, range_test
from scaleright.mlperf.plausibility import suspects
from scaleright.mlperf.results import FLAGS, ROUNDS, Flag, cleaning_report, comparable, results, submission
from scaleright.mlperf.trends import power_efficiency, server_to_offline, size_scaling, software_gains

__all__ = [
    "FLAGS", "LABEL", "METRICS", "RATES", "ROUNDS", "STATISTICS", "Flag", "Gain", "cleaning_report", "comparable", "drift", "gain",
    "generation_gains", "matched", "per_chip", "power_efficiency", "range_test", "results", "server_to_offline", "size_scaling",
    "software_gains", "submission", "submissions", "summary", "suspects",
]  # fmt: skip
