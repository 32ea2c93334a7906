"""Published MLPerf results: as submitted, and per accelerator.

A value per accelerator is derived by this book; it is not an official MLPerf metric.
"""

from scaleright.mlperf.best_runs import records
from scaleright.mlperf.compare import (
    LABEL,
    RATES,
    STATISTICS,
    drift,
    matched,
    per_chip,
    submissions,
    summary,
)
from scaleright.mlperf.gains import METRICS, Gain, gain, generation_gains, range_test
from scaleright.mlperf.pairs import ANY, BEFORE, NEWEST, taken
from scaleright.mlperf.records import record
from scaleright.mlperf.results import (
    FLAGS,
    ROUNDS,
    Flag,
    cleaning_report,
    comparable,
    results,
    submission,
)
from scaleright.mlperf.training import (
    ImpliedMfu,
    benchmark_results,
    implied_mfu,
    pretraining_share,
    rented,
    run_chip_hours,
    run_cost_usd,
    run_energy_kwh,
    strong_scaling,
    training_gains,
    training_results,
)
from scaleright.mlperf.trends import (
    power_efficiency,
    server_to_offline,
    size_scaling,
    software_gains,
)
from scaleright.mlperf.versus import Bench, Versus, questions, vendors
