"""Published MLPerf results: as submitted, and per accelerator.

A value per accelerator is derived by this book; it is not an official MLPerf metric.
"""

from scaleright.mlperf.comparison import (
    LABEL,
    METRICS,
    RATES,
    STATISTICS,
    drift,
    gain,
    generation_gains,
    matched,
    power_efficiency,
    range_test,
    server_to_offline,
    size_scaling,
    software_gains,
    submissions,
    summary,
)
from scaleright.mlperf.head_to_head import (
    ANY,
    BEFORE,
    NEWEST,
    Bench,
    HeadToHead,
    questions,
    taken,
    vendors,
)
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
    record,
    records,
    rented,
    run_chip_hours,
    run_cost_usd,
    run_energy_kwh,
    strong_scaling,
    training_gains,
    training_results,
)
