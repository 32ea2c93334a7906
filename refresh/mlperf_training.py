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

from refresh.rules import quantities, read_csv, rule
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
    numbers = {quantity: float(f"{value:.9g}") for quantity, value, _ in quantities(row, FILE, run)}
    counts = {ours: _count(row[theirs], run, theirs) for ours, theirs in _COUNTS.items()}
    chip = rule(FILE, "accelerator", row["accelerator"]).ours
    availability = rule(FILE, "availability", row["status"]).ours
    sequence, given = benchmark["sequence"], row["max_sequence_length"]
    flags = [
        flag
        for flag, holds in (
            ("preview", availability == "preview"),
            ("fewer_runs", counts["runs"] < int(benchmark["official_runs"])),
            ("supplied_sequence", sequence and not given),
        )
        if holds
    ]
    notes: list[str] = []
    wrong = list(_contradictions(row, chip, counts, numbers, benchmark))
    unit = None
    if "logged_throughput" in numbers:
        unit = _unit(
            numbers["logged_throughput"],
            benchmark,
            counts["accelerators"] * peaks.get(chip, math.inf),
            parameters,
        )
        wrong += (
            []
            if unit
            else [
                (
                    f"a logged throughput of {numbers['logged_throughput']:g} is beyond the chips"
                    " in samples and in tokens"
                )
            ]
        )
        flags += ["corrected_unit"] if unit == "token/s" else []
    if (
        _named_chips(row["system"])
        == counts["accelerators"] * _CORES.get(chip, 1)
        != counts["accelerators"]
    ):
        flags.append("core_count")
    same = (
        row["submitter"],
        row["benchmark"],
        chip,
        counts["accelerators"],
        numbers["unscaled_time_s"],
        numbers["fastest_run_s"],
    )
    if same in seen:
        flags.append("repeated")
        notes.append(f"the runs of {seen[same]}")
    seen.setdefault(same, f"{row['version']} {row['system']}")
    flags += ["implausible"] if wrong else []
    result = {
        "round": row["version"],
        "submitter": row["submitter"],
        "system": row["system"],
        "benchmark": row["benchmark"],
        "availability": availability,
        "accelerator": chip,
        **counts,
        **numbers,
        "sequence": int(float(given)) if given else int(sequence) if sequence else None,
        "logged_throughput_unit": unit,
        "precision": (
            rule(
                FILE,
                "precision",
                f"{row['version']} | {row['benchmark']} | {chip} | {row['submitter']}",
            ).ours
        ),
        **{
            name: row[name]
            for name in ("accelerator_memory", "interconnect", "host_network", "framework")
        },
        "flags": ";".join(flags),
        "source": rule(FILE, "round", row["version"]).ours,
        "note": "; ".join(notes + wrong),
    }
    return Doubtful(result, f"{FILE}: {run}", "; ".join(wrong)) if wrong else result


def _count(text: str, run: str, column: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise RefreshError(f"{FILE}: {run}: {column} is {text!r}; allowed: a whole number from 1")
    return int(text)


def _named_chips(system: str) -> int | None:
    """The count in the name of a TPU system, `cloud-tpu-v5p-1024-maxtext`."""
    found = re.search(r"tpu-\w+-(\d+)", system)
    return int(found[1]) if found else None


def _contradictions(row: Row, chip: str, counts: dict, numbers: dict, benchmark: Row) -> Items:
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
    unscaled, result = numbers["unscaled_time_s"], numbers["time_to_train_s"]
    if (
        not numbers["fastest_run_s"] <= unscaled * 1.001
        and unscaled <= numbers["slowest_run_s"] * 1.001
    ):
        yield f"a mean time of {unscaled:g} s lies outside its runs"
    if not math.isclose(result, unscaled * numbers["scaling"], rel_tol=1e-3) or result <= 0:
        yield f"{result:g} s is not {unscaled:g} s times {numbers['scaling']:g}"
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
