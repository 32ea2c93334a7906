"""MLPerf Training: how long each submission of the closed division took to train, one row a system
and benchmark.

What a log gets wrong or leaves open is settled by rules that hold for every row, never by a list of
rows:

- B200 or GB200, both called "Blackwell GPU": the accelerator's name says it in brackets, the
  system's name must agree.
- A TPU is a chip; names of v5p systems count its two TensorCores.
- A throughput is samples per second, unless those would take more arithmetic than the chips'
  fastest format has: then it is tokens per second, if these fit.
- A sequence length that the log leaves out is the one which the benchmark defines.
- The same runs may be submitted again: same submitter, benchmark, chips and times as an earlier
  row.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.names import suggestion
from scaleright.transformer.flops import training_flop
from scaleright.transformer.parameters import active_parameters

from refresh.rules import numbers, read_csv, rule
from refresh.tables import Doubtful, Dropped, Items, RefreshError, Row, cell_text

SOURCES = frozenset(
    {"mlperftraining40", "mlperftraining41", "mlperftraining50", "mlperftraining51"}
)
FILE = "mlperf_training/mlperf_training_v4.0_v5.1.csv"
_COUNTS = {
    "nodes": "nodes",
    "accelerators_per_node": "accelerators_per_node",
    "accelerators": "total_accelerators",
    "runs": "n_runs",
    "converged_runs": "n_success",
    "global_batch": "global_batch_size",
}
_CORES = {"TPU v5p": 2}
"""TensorCores of a chip by which its systems are named; one of the others."""
_AS_PRINTED = ("accelerator_memory", "interconnect", "host_network", "framework")


def rows(raw: Path, done: dict[str, list[Row]]) -> Items:
    """Rows of `mlperf_training`, a row that contradicts itself as doubtful; `done` has benchmarks,
    models and chip specs.
    """
    benchmarks = {row["benchmark"]: row for row in done["mlperf_training_benchmarks"]}
    peaks = _peaks(done["accelerator_specs"])
    parameters = _parameters(done["models"])
    seen: dict[tuple, str] = {}
    for row in read_csv(raw, FILE):
        run = f"{row['version']}/{row['submitter']}/{row['system']}/{row['benchmark']}"
        action, _, reason = rule(FILE, "division", row["division"])
        if action == "drop":
            yield Dropped(run, reason)
            continue
        if row["benchmark"] not in benchmarks:
            text = (
                f"{FILE}: {run}: unknown benchmark {row['benchmark']!r};"
                f" {suggestion(row['benchmark'], benchmarks)}"
            )
            raise RefreshError(f"{text}; add a new one to data/mlperf_training_benchmarks.csv")
        yield _result(row, run, benchmarks[row["benchmark"]], peaks, parameters, seen)


def _result(
    row: Row, run: str, benchmark: Row, peaks: dict, parameters: dict, seen: dict
) -> Row | Doubtful:
    figures = numbers(row, FILE, run)
    counts = {ours: _count(row[theirs], run, theirs) for ours, theirs in _COUNTS.items()}
    chip = rule(FILE, "accelerator", row["accelerator"]).ours
    availability = rule(FILE, "availability", row["status"]).ours
    wrong = list(_contradictions(row, chip, counts, figures, benchmark))
    unit, logged = None, figures.get("logged_throughput")
    if logged is not None:
        peak = counts["accelerators"] * peaks.get(chip, math.inf)
        unit = _unit(logged, benchmark, peak, parameters)
        if unit is None:
            wrong.append(
                f"a logged throughput of {logged:g} is beyond the chips in samples and in tokens"
            )
    earlier = _earlier(row, chip, counts, figures, seen)
    marks = {
        "preview": availability == "preview",
        "fewer_runs": counts["runs"] < int(benchmark["official_runs"]),
        "supplied_sequence": benchmark["sequence"] and not row["max_sequence_length"],
        "corrected_unit": unit == "token/s",
        "core_count": _counts_cores(row["system"], chip, counts["accelerators"]),
        "repeated": earlier,
        "implausible": wrong,
    }
    told = f"{row['version']} | {row['benchmark']} | {chip} | {row['submitter']}"
    result = {
        "round": row["version"],
        "submitter": row["submitter"],
        "system": row["system"],
        "benchmark": row["benchmark"],
        "availability": availability,
        "accelerator": chip,
        **counts,
        **figures,
        "sequence": _sequence(row, benchmark),
        "logged_throughput_unit": unit,
        "precision": rule(FILE, "precision", told).ours,
        **{name: row[name] for name in _AS_PRINTED},
        "flags": ";".join(flag for flag, holds in marks.items() if holds),
        "source": rule(FILE, "round", row["version"]).ours,
        "note": "; ".join([*([f"the runs of {earlier}"] if earlier else []), *wrong]),
    }
    return Doubtful(result, f"{FILE}: {run}", "; ".join(wrong)) if wrong else result


def _earlier(row: Row, chip: str, counts: dict, figures: dict, seen: dict) -> str | None:
    """The submission that had the same runs before, if any; otherwise `seen` remembers this one."""
    same = (
        row["submitter"],
        row["benchmark"],
        chip,
        counts["accelerators"],
        figures["unscaled_time_s"],
        figures["fastest_run_s"],
    )
    earlier = seen.get(same)
    if earlier is None:
        seen[same] = f"{row['version']} {row['system']}"
    return earlier


def _sequence(row: Row, benchmark: Row) -> int | None:
    """Tokens of a sequence: as logged, otherwise as the benchmark defines them."""
    if row["max_sequence_length"]:
        return int(float(row["max_sequence_length"]))
    return int(benchmark["sequence"]) if benchmark["sequence"] else None


def _count(text: str, run: str, column: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise RefreshError(f"{FILE}: {run}: {column} is {text!r}; allowed: a whole number from 1")
    return int(text)


def _named_chips(system: str) -> int | None:
    """The count in the name of a TPU system, `cloud-tpu-v5p-1024-maxtext`."""
    found = re.search(r"tpu-\w+-(\d+)", system)
    return int(found[1]) if found else None


def _counts_cores(system: str, chip: str, chips: int) -> bool:
    """Whether the name of a TPU system counts TensorCores where the row counts chips."""
    cores = chips * _CORES.get(chip, 1)
    return _named_chips(system) == cores != chips


def _contradictions(row: Row, chip: str, counts: dict, figures: dict, benchmark: Row) -> Items:
    """What in a row contradicts itself, in words."""
    named = {
        name.upper()
        for name in re.findall(
            r"gb[23]00|(?<!g)b[23]00", f"{row['system']} {row['system_name']}", re.IGNORECASE
        )
    }
    if named and chip not in named:
        yield f"the system is named after {', '.join(sorted(named))}, the accelerator is {chip}"
    whole, total = counts["nodes"] * counts["accelerators_per_node"], counts["accelerators"]
    if whole != total:
        yield (
            f"{counts['nodes']} nodes of {counts['accelerators_per_node']} accelerators are"
            f" {whole}, not {total}"
        )
    cores = _named_chips(row["system"])
    if cores and cores != total * _CORES.get(chip, 1):
        yield f"the name counts {cores} cores, which {total} chips do not have"
    unscaled, result = figures["unscaled_time_s"], figures["time_to_train_s"]
    if not figures["fastest_run_s"] / 1.001 <= unscaled <= figures["slowest_run_s"] * 1.001:
        yield f"a mean time of {unscaled:g} s lies outside its runs"
    if not math.isclose(result, unscaled * figures["scaling"], rel_tol=1e-3) or result <= 0:
        yield f"{result:g} s is not {unscaled:g} s times {figures['scaling']:g}"
    if (
        row["max_sequence_length"]
        and benchmark["sequence"]
        and float(row["max_sequence_length"]) != float(benchmark["sequence"])
    ):
        yield (
            f"a sequence of {row['max_sequence_length']} tokens; the benchmark defines"
            f" {benchmark['sequence']}"
        )


def _unit(
    throughput: float, benchmark: Row, peak_flops: float, parameters: dict[str, int]
) -> str | None:
    """Samples per second, or tokens where the chips could not do so many samples; None where they
    can do neither.
    """
    if not benchmark["sequence"]:
        return "sample/s"
    in_tokens = training_flop(parameters[benchmark["model"]], throughput)
    least = in_tokens * 2 / 3 if benchmark["start"] == "adapter" else in_tokens
    if least * int(benchmark["sequence"]) <= peak_flops:
        return "sample/s"
    return "token/s" if least <= peak_flops else None


def _peaks(specs: list[Row]) -> dict[str, float]:
    """The highest dense rate of each chip in any floating-point format [FLOP/s]."""
    found: dict[str, float] = {}
    for fact in specs:
        if re.fullmatch(r"dense_(bf16|fp16|fp8|fp4)_flops", fact["quantity"]):
            found[fact["accelerator"]] = max(
                found.get(fact["accelerator"], 0.0), float(fact["value"])
            )
    return found


def _parameters(models: list[Row]) -> dict[str, int]:
    """Parameters that a token uses, by model."""
    texts = ({name: cell_text(row.get(name)) for name in SHAPE_FIELDS} for row in models)
    values = (
        {key: text if key == "name" else _value(text) for key, text in row.items() if text}
        for row in texts
    )
    return {row["name"]: int(active_parameters(Transformer(**row)).total) for row in values}


def _value(text: str) -> int | bool:
    return text == "true" if text in ("true", "false") else int(float(text))
