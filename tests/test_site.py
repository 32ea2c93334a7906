"""The built site in a real browser with every outside host unreachable.

The site is brought up to date by `scaleright book` first (seconds if nothing changed);
`SCALERIGHT_SITE` names another built site to test instead. Without a browser the tests are skipped,
except where `CI` is set.
"""

from __future__ import annotations

import functools
import http.server
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import date, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import nbformat
import pandas as pd
import pytest
import yaml
from scaleright import catalog, claims, market, mlperf, scaling_laws, transformer, validation
from scaleright.costs import pretraining
from scaleright.costs.regret import switch_probability
from scaleright.costs.rent import cloud_usd_per_month, compute_usd, rent_usd_per_year
from scaleright.costs.serving import Serving
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.costs.tokens import mix_usd_per_million
from scaleright.costs.uncertainty import UncertainBreakEven, chip_ends, setting_ends
from scaleright.decisions import architecture_bets as bets
from scaleright.decisions import eco_efficiency as eco
from scaleright.decisions import hardware_choice as hardware
from scaleright.decisions import hardware_radar as map_of_hardware
from scaleright.decisions import vendor_economics as vendor
from scaleright.decisions.cloud_choice import egress_by_segment
from scaleright.decisions.hardware_candidates import candidates
from scaleright.decisions.inference_ladder import rungs_of_source
from scaleright.decisions.parallelism_selector import parallelism_selector
from scaleright.footprint import Footprint, Place, machine, place
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import Service
from scaleright.inference.fleet import chips as fleet_size
from scaleright.inference.lengths import Load
from scaleright.inference.levers import climb
from scaleright.inference.curves import curves, engines, fastest
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots
from scaleright.power import energy_kwh
from scaleright.press import Book, repository, scenarios
from scaleright.press.pages import sentence
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import FSDP, FSDP_FUSED_LOSS, training_memory

ROOT = Path(__file__).resolve().parents[1]
CONTENTS = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())
LISTED = [f"{entry['file']}.html" for part in CONTENTS["parts"] for entry in part["chapters"]]
CHAPTERS = [name for name in LISTED if name.startswith("notebooks/")]
PAGES = [f"{CONTENTS['root']}.html", *LISTED, "search.html"]
SCENARIOS = {f"{scenario.page}.html": scenario for scenario in scenarios.read(Book(ROOT))}
ONE_EACH = list({scenario.chapter: page for page, scenario in SCENARIOS.items()}.values())
CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
OFFLINE = [
    "--no-sandbox",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def uncertain(values: dict) -> UncertainBreakEven:
    """The break-even that the controls of `buy_or_rent` describe."""
    given = {"usd_per_hour": values["rent_usd_per_hour"], "service_years": values["years"]}
    shared = {
        name: values[name]
        for name in ("chip_usd", "usd_per_kwh", "value_kept_per_year", "cost_of_capital")
    }
    return UncertainBreakEven(
        given | shared, chip_ends(values["accelerator"]), setting_ends(values["setting"])
    )


def saving(values: dict) -> float:
    hours = values["hours_per_day"]
    return abs(
        uncertain(values).terms().owned_usd_per_year(hours).total
        - rent_usd_per_year(values["rent_usd_per_hour"], hours)
    )


def break_even(values: dict) -> float:
    return uncertain(values).terms().break_even_hours_per_day(values["rent_usd_per_hour"])


def step(values: dict) -> transformer.DecodeStep:
    """The decode step that the controls of `scaling_math` describe."""
    chip, shape = catalog.accelerator(values["accelerator"]), catalog.model(values["model"])
    case = (values[name] for name in ("context", "batch", "weights", "accelerators"))
    shares = (values[name] for name in ("compute_efficiency", "bandwidth_efficiency"))
    peak = (
        chip.dense.get("fp8", chip.dense["bf16"])
        if values["weights"] == "FP8"
        else chip.dense["bf16"]
    )
    return transformer.decode_step(shape, *case, peak, chip.require("memory_bytes_per_s"), *shares)


def serving(values: dict) -> Serving:
    """The service that the controls of `token_cost` describe."""
    found = curves(
        engines(catalog.model(values["model"]), catalog.accelerator(values["accelerator"]))
    )
    request = tuple(values[name] for name in ("input_tokens", "output_tokens", "cached_share"))
    speed = fastest(found, Load(*request), 1 / values["pace_tokens_per_s"])
    paid, asked = (
        (values[name] for name in names)
        for names in (
            ("rent_usd_per_hour", "utilization"),
            ("api_input", "api_cached", "api_output"),
        )
    )
    return Serving(speed.tokens_per_s, speed.reading, *paid, *request, *asked)


def crowd(values: dict) -> dict[str, float]:
    """What the controls of `inference_roofline` ask: the cost of a million tokens, the tokens a
    second for each reader, and who fits.
    """
    model, chip, load = (
        catalog.model(values["model"]),
        catalog.accelerator(values["accelerator"]),
        Load(*(values[name] for name in ("input_tokens", "output_tokens", "cached_share"))),
    )
    tried = (
        Deployment(
            model,
            chip,
            values["precision"],
            tensor=n,
            expert=n if model.experts else 1,
            software="vLLM",
        )
        for n in (1, 2, 4, 8)
    )
    (one,) = curves([next(d for d in tried if valid(d) and slots(d, Load(2000, 500)) >= 128)])
    room = one.slots(load)
    point = one.at(min(values["batch"], room), load)
    speed = point.beat.requests * load.output_tokens / point.step_s
    return {
        "price": usd_per_million_tokens(
            values["rent_usd_per_hour"] * one.chips, speed, values["utilization"]
        ),
        "pace_now": 1 / point.tpot_s,
        "room": room,
    }


def split(values: dict) -> float:
    """Seconds of a step of the run that the controls of `parallelism` describe, split as the
    library advises.
    """
    chip = catalog.accelerator("H100 SXM")
    linked = replace(
        chip,
        scale_up_bytes_per_s=values["fabric_gb_per_s"] * 1e9,
        scale_out_bytes_per_s=values["network_gb_per_s"] * 1e9,
    )
    verdict = parallelism_selector(
        TrainingRun(catalog.model("Llama-3.1-70B"), linked, 256, 8192, 512)
    )
    return verdict.numbers[verdict.what.removesuffix(" parallelism")][0]


def least_bill(values: dict) -> float:
    """The cheapest month that the controls of `gpu_prices` describe."""
    cards, egress = market.cheapest(values["accelerator"]), egress_by_segment()
    case = (values["used_share"], values["moved_gb_per_month"])
    return min(
        cloud_usd_per_month(
            row.usd_per_accelerator_hour,
            values["accelerators"],
            row.accelerators,
            *case,
            egress[row.segment],
        )
        for row in cards.itertuples()
    )


def choice(values: dict) -> pd.Series:
    """The cheapest chip for the workload that the controls of `hardware_compare` describe."""
    training, wait = values["task"] == "training", values["latency_ms"]
    terms = hardware.Terms(
        values["tokens_per_s"],
        values["utilization"],
        values["slowdown"],
        catalog.fact("memory_bandwidth_efficiency"),
        values["memory_share"],
        wait / 1e3 if wait > 0 and not training else math.inf,
        values["most_chips"],
        values["fabric_gb_per_s"] * 1e9,
        training,
    )
    work = hardware.work(
        catalog.model(values["model"]),
        training,
        values["context"],
        values["batch"],
        values["precision"],
    )
    chips = candidates(values["vendor"], values["segment"], int(values["least_providers"]))
    return hardware.compare(work, chips, terms, values["paid"] == "own").iloc[0]


def trained(values: dict) -> dict[str, float]:
    """The run that the controls of `pretraining_records` describe, and what it took."""
    least = {
        "time": "time_to_train_s",
        "chip-hours": "chip_hours",
        "rent": "cost_usd",
        "energy": "chips_kwh",
    }[values["measure"]]
    run = mlperf.record(
        values["benchmark"], None if values["round"] == "all" else values["round"], least
    )
    meter = energy_kwh(run["chip_hours"], run["watts"] + values["host_watts"], values["pue"])
    return {
        "seconds": run["time_to_train_s"],
        "chips": run["accelerators"],
        "rent": values["rent_share"] * run["cost_usd"],
        "meter": meter,
    }


def hardware_bet(values: dict) -> tuple[pd.DataFrame, pd.Series]:
    """Costs of the bets that the controls of `architecture_bets` describe, and the rates of the
    pair by kind of model.
    """
    rents, pair = bets.rents(), [values["bet"], values["rival"]]
    rates = {
        kind: bets.matched_rates(
            *pair, values[kind], "Offline" if kind == "images" else values["scenario"]
        )
        for kind in bets.ARCHITECTURES
    }
    prices = (
        rents["usd_per_hour"]
        .where((rents["listings"] > 0) | bool(values["unlisted"]) | rents.index.isin(pair))
        .dropna()
    )
    prices[pair[0]], prices[pair[1]] = values["bet_usd_per_hour"], values["rival_usd_per_hour"]
    return bets.payoffs(rates, prices), pd.Series(
        {kind: of[pair[0]] / of[pair[1]] for kind, of in rates.items()}
    )


def regret(values: dict) -> float:
    """What the best of them costs more than knowing in advance."""
    verdict = bets.architecture_bets(
        hardware_bet(values)[0],
        values["mixture_probability"],
        values["image_share"],
        values["committed_ratio"],
    )
    return (
        min(number for name, (number, _) in verdict.numbers.items() if name.endswith(", expected"))
        - 1
    )


def switch(values: dict) -> float:
    costs = hardware_bet(values)[0]
    return switch_probability(
        values["image_share"], *costs.loc[values["bet"]], *costs.loc[values["rival"]]
    )


def faster(values: dict) -> mlperf.Gain:
    """The gain that the controls of `mlperf` describe."""
    what = (
        values[name]
        for name in (
            "new_chip",
            "old_chip",
            "benchmark",
            "scenario",
            "metric",
            "statistic",
            "in_round",
        )
    )
    return mlperf.gain(
        *what, (values["rent_new"], values["rent_old"]) if values["metric"] == "dollar" else None
    )


def leader(values: dict) -> float:
    """The score of the chip that leads by the controls of `hardware_radar`."""
    weights = [values[f"weight_{axis}"] for axis in map_of_hardware.AXES]
    known = map_of_hardware.figures(
        values["benchmark"], values["scenario"], values["paid"] == "own", values["stand_ins"]
    )
    return float(
        map_of_hardware.standings(map_of_hardware.scores(known, values["span"]), weights)[
            "low"
        ].iloc[0]
    )


def planet(values: dict) -> Footprint:
    """The footprint of the work that the controls of `sustainability` describe."""
    chip, use = values["accelerator"], values["utilization"]
    here = Place(
        values["pue"],
        values["grams_per_kwh"] / 1e3,
        values["site_liters_per_kwh"],
        values["plant_liters_per_kwh"],
    )
    served = values["task"] == "serving"
    of = (
        eco.serving(values["model"], chip, values["batch"], use, here)
        if served
        else eco.training(chip, values["chip_hours"], use, here)
    )
    return replace(
        of,
        machine=replace(
            of.machine, life_years=values["life_years"], machine_kg=values["embodied_kg"]
        ),
    ).footprint


def pretrained(values: dict) -> dict[str, float]:
    """The run that the controls of `pretraining_cost` describe, of the chapter's model, batch and
    format.
    """
    chips, price = values["chips"], pretraining.hourly_usd(values["accelerator"])
    step = pretraining.best_step("Llama-2-7B", values["accelerator"], chips, 4096, 1024)
    kept = pretraining.goodput(chips, *(values[name] for name in pretraining.RELIABILITY))
    hours = pretraining.run_chip_hours(
        values["tokens"], 4096 * 1024, chips, *(step[part] for part in pretraining.STEP_PARTS), kept
    )
    own = values["paid"] == "own" and price["owned"] > 0
    paid = (price["owned"], price["power"]) if own else (values["rent_usd_per_hour"], 0.0)
    people = pretraining.people_usd(values["person_years"], values["pay_usd_per_year"])
    cost = pretraining.pretraining_usd(
        **hours.parts(),
        usd_per_hour=paid[0],
        power_usd_per_hour=paid[1],
        experiments=values["experiments"],
        people_usd=people,
    )
    made = Footprint.of(machine(values["accelerator"]), hours.total, 1.0, place(values["place"]))
    pace = pretraining.published_runs().query("covers == 'pretraining'")["ratio"].median()
    return {
        "run_usd": cost.run_usd,
        "usual_usd": pace * cost.run_usd,
        "project_usd": cost.total,
        "chip_hours": hours.total,
        "energy_wh": 1e3 * made.energy.total,
    }


def vendor_lead(values: dict) -> dict[str, float]:
    """What the controls of `vendor_claims` describe: the most that the lead in cost comes to at any
    speed, and the sales of a rack.
    """
    lengths, speeds = (
        {"1K/1K": (1024, 1024), "8K/1K": (8192, 1024)}[values["request"]],
        (10, 20, 30, 40, 50, 60, 75, 100, 125, 150, 175, 200, 250, 300),
    )
    points = vendor.serving_points(values["model"], *lengths, values["drafts"])
    newer, older = (
        [
            float(f"{rate:.4g}")
            for rate in vendor.best_rate(points[points["accelerator"] == values[which]], speeds)
        ]
        for which in ("newer", "older")
    )
    prices = values["newer_usd_per_hour"], values["older_usd_per_hour"]
    most = max(
        vendor.advantage(new / old, *prices) for new, old in zip(newer, older) if new and old
    )
    price = mix_usd_per_million(
        *lengths, 0.0, values["api_input"], values["api_output"], values["api_input"]
    )
    rate = vendor.RACK_CHIPS * newer[speeds.index(int(values["speed"]))]
    return {
        "most_said": most,
        "sales_usd": (
            vendor.returns(
                values["investment_usd"], rate, price, values["years"], values["utilization"]
            ).sales_usd
        ),
    }


def kept_on_a_chip(values: dict) -> float:
    """What the run that the controls of `memory_wall` describe takes on each chip."""
    chips = values["accelerators"]
    stage, level = (
        names.index(values[key])
        for key, names in (
            ("sharding", ["nothing", "optimizer", "optimizer and gradients", "everything"]),
            ("recompute", RECOMPUTE),
        )
    )
    run = TrainingRun(
        catalog.model(values["model"]), None, chips, values["sequence"], 1e9, "BF16", values["task"]
    )
    layout = Layout(data=chips, micro_batch=values["micro_batch"], zero=stage, recompute=level)
    return training_memory(
        run, layout, values["optimizer"], FSDP if values["loss"] == "plain" else FSDP_FUSED_LOSS
    ).total


@functools.cache
def judged_training():
    """Scored training runs, judged once."""
    rows = validation.validate("training").rows
    return rows[rows["scored"]]


def training_error(values: dict) -> float:
    """The median error that the controls of `training_accuracy` describe, of every source."""
    rows, mode = judged_training(), values["left_out"]
    rows = rows[(values["kind"] == "all") | (rows["kind"] == values["kind"])]
    return (
        float(
            rows["error_percent" + ("" if mode == "group" else f" {mode} left out")]
            .round(4)
            .abs()
            .median()
        )
        / 100
    )


def saved_by_levers(values: dict) -> float:
    """Share of the fleet that the controls of `inference_ladder` save, with the levers that its
    case takes.
    """
    deployment = Deployment(
        catalog.model("Llama-3.1-70B"),
        catalog.accelerator(values["accelerator"]),
        software="vLLM 0.17.0",
        kv_precision="BF16",
    )
    load = Load(1150.0, 210.0, input_cv=1.0, output_cv=1.0)
    usual = {
        "peak_to_mean": 3.0,
        "together": 0.3,
        "services": 4,
        "variants": 2,
        "prefix_share": 0.5,
        "repeated_share": 0.05,
        "tpot_s": 0.05,
    }
    rungs = climb(
        Service(deployment, load, 100.0, **usual),
        [name for names in rungs_of_source().values() for name in names],
    )
    moved = {
        name: values[name]
        for name in (
            "requests_per_s",
            "peak_to_mean",
            "together",
            "services",
            "variants",
            "repeated_share",
        )
    }
    first, last = (
        fleet_size(replace(rung.service, **moved), rung.sizes, rung.served)
        for rung in (rungs[0], rungs[-1])
    )
    return 1 - last / first


LADDER = "notebooks/inference_ladder.html"
BUSY_SERVICES = {
    "accelerator": "B200",
    "requests_per_s": 400.0,
    "services": 10,
    "together": 0.1,
    "repeated_share": 0.2,
}


def serving_error(values: dict) -> float:
    """The median error that the controls of `serving_accuracy` describe, of every publication."""
    rows = catalog.table("serving_errors")
    column = {"group": "error_percent", "model": "model_out_percent", "chip": "chip_out_percent"}[
        values["left_out"]
    ]
    figure = {"time per token": "TPOT", "gap between tokens": "ITL"}.get(
        values["figure"], values["figure"]
    )
    return float(rows[rows["scored"] & (rows["figure"] == figure)][column].abs().median()) / 100


SERVED = "notebooks/serving_accuracy.html"
OF_ENERGY = {"figure": "energy", "left_out": "model"}
ACCURACY = "notebooks/training_accuracy.html"
UNSEEN_EXPERTS = {"kind": "experts", "left_out": "model"}


def budgeted(values: dict) -> dict[str, float]:
    """The models that the controls of `scaling_laws` describe."""
    law = scaling_laws.fit(scaling_laws.points())
    peak = market.matmul_chips()[values["accelerator"]]["bf16_flops"]
    train, serve = (
        compute_usd(1.0, peak, values[share], values["rent_usd_per_hour"])
        for share in ("mfu", "serving_mfu")
    )
    flop = values["budget_usd"] / train
    size = scaling_laws.compute_optimal_parameters(flop, **law.terms)
    tokens = scaling_laws.tokens_for_compute(flop, size)
    loss = scaling_laws.loss(size, tokens, law.E, **law.terms)
    smaller, longer = scaling_laws.cheapest_for_life(
        loss, scaling_laws.equivalent_tokens(values["lifetime_tokens"], serve / train), law
    )
    bills = [
        scaling_laws.lifetime(n, d, values["lifetime_tokens"], train, serve).total
        for n, d in ((size, tokens), (smaller, longer))
    ]
    return {
        "size": size,
        "tokens": tokens,
        "smaller_said": smaller,
        "longer_said": longer,
        "saved": 1 - bills[1] / bills[0],
    }


BUY, SCALE = "notebooks/buy_or_rent.html", "notebooks/scaling_math.html"
TOKEN, PRICES, CHIPS = (
    f"notebooks/{name}.html" for name in ("token_cost", "gpu_prices", "hardware_compare")
)
RECORDS = "notebooks/pretraining_records.html"
FASTER = "notebooks/mlperf.html"
AT_ONCE = "notebooks/inference_roofline.html"
FULL_NODE = {
    "model": "DeepSeek-V3",
    "accelerator": "B200",
    "batch": 2048,
    "input_tokens": 600,
    "output_tokens": 3000,
    "cached_share": 0.3,
}
RADAR = "notebooks/hardware_radar.html"
FRUGAL = {
    "benchmark": "stable-diffusion-xl",
    "weight_speed": 0.0,
    "weight_energy": 3.0,
    "span": 4.0,
    "stand_ins": True,
}
OWNED = {"benchmark": "gpt-oss-120b", "scenario": "Server", "paid": "own", "weight_cost": 2.5}
OTHER_CARD = {"accelerator": "H100 SXM", "setting": "data center", "hours_per_day": 20.0}
DEAR_POWER = {
    "rent_usd_per_hour": 0.4,
    "usd_per_kwh": 0.3,
    "years": 4.0,
    "value_kept_per_year": 0.6,
}
MIXTURE = {
    "model": "DeepSeek-V3",
    "accelerator": "B200",
    "accelerators": 32,
    "context": 65536,
    "batch": 64,
    "weights": "FP8",
}
REASONING = {
    "model": "DeepSeek-R1-0528",
    "accelerator": "B200",
    "utilization": 0.7,
    "input_tokens": 1000,
    "output_tokens": 4000,
    "cached_share": 0.5,
    "pace_tokens_per_s": 45.0,
}
ONE_OF_MANY = {
    "accelerator": "A100 SXM 80GB",
    "accelerators": 1,
    "used_share": 0.05,
    "moved_gb_per_month": 20,
}
TRAINING = {
    "task": "training",
    "model": "Llama-3.1-8B",
    "context": 8192,
    "precision": "BF16",
    "tokens_per_s": 2e5,
    "slowdown": 2.0,
}
OWN_CARD = {
    "model": "Llama-3.1-8B",
    "precision": "INT4",
    "paid": "own",
    "segment": "consumer",
    "least_providers": 1,
    "tokens_per_s": 500,
}
FINE_TUNED = {
    "benchmark": "Llama-2-70B LoRA",
    "measure": "energy",
    "rent_share": 0.5,
    "host_watts": 400,
    "pue": 1.5,
}
OF_2024 = {"benchmark": "GPT-3 175B", "round": "v4.0", "measure": "rent"}
RACK = {
    "benchmark": "deepseek-r1",
    "scenario": "Interactive",
    "new_chip": "GB300",
    "old_chip": "B300",
    "metric": "dollar",
    "rent_new": 12.5,
}
OLDER = {
    "benchmark": "bert-99",
    "new_chip": "H100 PCIe",
    "old_chip": "A100 PCIe 80GB",
    "metric": "watt",
    "in_round": "v3.1",
    "statistic": "median",
}
WINDOWED = {
    "model": "gpt-oss-120b",
    "context": 30000,
    "batch": 3,
    "weights": "MXFP4",
    "accelerators": 2,
}

PLANET = "notebooks/sustainability.html"
FULL_BATCHES = {
    "model": "Qwen3-235B-A22B",
    "accelerator": "B200",
    "batch": 1024,
    "utilization": 0.7,
    "place": "Poland",
    "life_years": 3,
}
OWN_RUN = {
    "task": "training",
    "accelerator": "A100 SXM 80GB",
    "chip_hours": 5e6,
    "place": "AWS eu-north-1",
    "pue": 1.4,
    "embodied_kg": 900,
}

BETS = "notebooks/architecture_bets.html"
IN_A_HURRY = {
    "scenario": "Interactive",
    "mixture_probability": 0.8,
    "image_share": 0.2,
    "bet_usd_per_hour": 30.0,
}
OTHER_MAKER = {
    "bet": "MI355X",
    "dense": "llama2-70b",
    "mixture": "gpt-oss-120b",
    "unlisted": True,
    "mixture_probability": 0.3,
}

PRETRAIN = "notebooks/pretraining_cost.html"
OWN_CLUSTER = {
    "accelerator": "A100 SXM 80GB",
    "chips": 1024,
    "paid": "own",
    "tokens": 3e11,
    "experiments": 3.0,
    "place": "France",
}

BUDGET = "notebooks/scaling_laws.html"
MANY_USERS = {
    "budget_usd": 2e8,
    "accelerator": "B200",
    "lifetime_tokens": 1e16,
    "serving_mfu": 0.1,
    "mfu": 0.3,
}

VENDOR = "notebooks/vendor_claims.html"
ANNOUNCED = {
    "model": "DeepSeek-V3",
    "drafts": "new",
    "newer": "GB200",
    "speed": 75,
    "years": 5.0,
    "newer_usd_per_hour": 4.0,
}

# (page, controls to set, named number, what the library says it is at all values of the page's
# controls)
MEMORY = "notebooks/memory_wall.html"
SPLIT = "notebooks/parallelism.html"
ADAPTERS = {
    "model": "DeepSeek-V3",
    "task": "lora",
    "sharding": "optimizer and gradients",
    "recompute": "selective",
    "optimizer": "adamw-8bit",
    "micro_batch": 4,
}
LIVE = [
    *((LADDER, case, "saving", saved_by_levers) for case in ({}, BUSY_SERVICES)),
    *(
        (SPLIT, case, "seconds", split)
        for case in ({}, {"network_gb_per_s": 10.0}, {"fabric_gb_per_s": 45.0})
    ),
    *((ACCURACY, case, "median", training_error) for case in ({}, UNSEEN_EXPERTS)),
    *((SERVED, case, "median", serving_error) for case in ({}, OF_ENERGY)),
    *((MEMORY, case, "chip_total", kept_on_a_chip) for case in ({}, ADAPTERS)),
    *(
        (VENDOR, case, name, lambda v, name=name: vendor_lead(v)[name])
        for case in ({}, ANNOUNCED)
        for name in ("most_said", "sales_usd")
    ),
    *((BUY, case, "break_even_hours", break_even) for case in ({}, OTHER_CARD, DEAR_POWER)),
    *((BUY, case, "saving", saving) for case in ({}, OTHER_CARD, DEAR_POWER)),
    *(
        (BUY, case, f"range_{end}", lambda v, i=i: uncertain(v).interval()[i])
        for case in ({}, OTHER_CARD)
        for i, end in enumerate(("low", "high"))
    ),
    *(
        (SCALE, case, "token_flop", lambda v: step(v).flop / v["batch"])
        for case in ({}, MIXTURE, WINDOWED)
    ),
    *(
        (SCALE, case, "step_bytes", lambda v: step(v).weight_bytes + step(v).kv_bytes)
        for case in ({}, MIXTURE, WINDOWED)
    ),
    *(
        (SCALE, case, "least_seconds", lambda v: step(v).seconds)
        for case in ({}, MIXTURE, WINDOWED)
    ),
    *(
        (TOKEN, case, "rented", lambda v: serving(v).rented_usd_per_million())
        for case in ({}, REASONING)
    ),
    *((TOKEN, case, "even", lambda v: serving(v).break_even) for case in ({}, REASONING)),
    *((TOKEN, case, "asked", lambda v: serving(v).api_usd_per_million) for case in ({}, REASONING)),
    *(
        (AT_ONCE, case, name, lambda v, name=name: crowd(v)[name])
        for case in ({}, FULL_NODE)
        for name in ("price", "pace_now", "room")
    ),
    *((PRICES, case, "bill", least_bill) for case in ({}, ONE_OF_MANY)),
    *(
        (CHIPS, case, name, lambda v, name=name: choice(v)[name])
        for case in ({}, TRAINING, OWN_CARD)
        for name in ("usd_per_million", "chips")
    ),
    *(
        (RECORDS, case, name, lambda v, name=name: trained(v)[name])
        for case in ({}, FINE_TUNED, OF_2024)
        for name in ("seconds", "rent", "meter")
    ),
    *((BETS, case, "regret", regret) for case in ({}, IN_A_HURRY, OTHER_MAKER)),
    *((BETS, case, "flip", switch) for case in ({}, IN_A_HURRY, OTHER_MAKER)),
    *(
        (BETS, case, f"gain_{kind}", lambda v, kind=kind: hardware_bet(v)[1][kind])
        for case in ({}, OTHER_MAKER)
        for kind in ("dense", "mixture")
    ),
    *(
        (
            BETS,
            case,
            f"range_{kind}_{end}",
            lambda v, kind=kind, end=end: getattr(
                mlperf.gain(v["bet"], v["rival"], v[kind], v["scenario"]), end
            ),
        )
        for case in ({}, IN_A_HURRY, OTHER_MAKER)
        for kind in ("dense", "mixture")
        for end in ("low", "high")
    ),
    *((FASTER, case, "gain", lambda v: faster(v).value) for case in ({}, RACK, OLDER)),
    *(
        (FASTER, case, f"range_{end}", lambda v, end=end: getattr(faster(v), end))
        for case in ({}, RACK, OLDER)
        for end in ("low", "high")
    ),
    *((RADAR, case, "points", leader) for case in ({}, FRUGAL, OWNED)),
    *(
        (PLANET, case, "energy_wh", lambda v: 1e3 * planet(v).energy.total)
        for case in ({}, FULL_BATCHES, OWN_RUN)
    ),
    *(
        (PLANET, case, "carbon_kg", lambda v: planet(v).carbon.total)
        for case in ({}, FULL_BATCHES, OWN_RUN)
    ),
    *(
        (PRETRAIN, case, name, lambda v, name=name: pretrained(v)[name])
        for case in ({}, OWN_CLUSTER)
        for name in ("run_usd", "usual_usd", "project_usd", "chip_hours", "energy_wh")
    ),
    *(
        (PLANET, case, "water_l", lambda v: planet(v).water.total)
        for case in ({}, FULL_BATCHES, OWN_RUN)
    ),
    *(
        (BUDGET, case, name, lambda v, name=name: budgeted(v)[name])
        for case in ({}, MANY_USERS)
        for name in ("size", "tokens", "smaller_said", "longer_said", "saved")
    ),
]
IN_PHRASES = (
    "points",
    "price",
    "pace_now",
    "room",
    "range_",
    "rented",
    "even",
    "usd_per_million",
    "chips",
    "regret",
    "flip",
    "gain",
)
"""Numbers that the page says within words of their own."""


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the site."""
    given = os.environ.get("SCALERIGHT_SITE")
    folder = Path(given) if given else ROOT / "_build" / "html"
    if not given:
        done = subprocess.run(
            [sys.executable, "-m", "scaleright.cli", "book"],
            cwd=ROOT,
            text=True,
            capture_output=True,
        )
        if done.returncode:
            pytest.fail(
                "scaleright book failed, so there is no site to"
                f" test:\n{done.stdout[-2000:]}{done.stderr[-4000:]}",
                pytrace=False,
            )
    if not (folder / "index.html").is_file():
        pytest.fail(f"no site at {folder}: run make book", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def site(html) -> str:
    """The address of the site, served on this machine."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(quiet, directory=str(html))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    if not CHROMIUM:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed: apt-get install chromium", pytrace=False)
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        yield chromium
        chromium.close()


class Visit:
    """A page in the browser and all that went wrong on it."""

    def __init__(self, browser, site: str, width: int = 1280, mode: str = "light"):
        self.site, self.troubles = site, []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=mode, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.page.on(
            "console",
            lambda m: (
                m.type in ("error", "warning")
                and self.troubles.append(f"console {m.type}: {m.text}")
            ),
        )
        self.page.on("pageerror", lambda error: self.troubles.append(f"uncaught: {error}"))
        self.page.on(
            "requestfailed", lambda r: self.troubles.append(f"failed: {r.url} {r.failure}")
        )
        self.page.on(
            "response", lambda r: r.status >= 400 and self.troubles.append(f"{r.status}: {r.url}")
        )
        self.page.on(
            "request",
            lambda r: (
                r.url.startswith((site, "data:", "blob:"))
                or self.troubles.append(f"outside: {r.url}")
            ),
        )

    def open(self, name: str):
        self.page.goto(self.site + name, wait_until="load")
        if name == "index.html":  # it only points to the first page
            self.page.wait_for_url(self.site + PAGES[0])
        self.page.evaluate("window.scaleright.ready")
        self.page.evaluate("window.MathJax?.startup?.promise")
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
        )
        self.page.wait_for_timeout(150)  # the charts of folded blocks take their width
        return self

    def ask(self, script: str, argument=None):
        return self.page.evaluate(script, argument)

    def controls(self) -> dict[str, dict]:
        return self.ask("Object.fromEntries(window.scaleright.page.controls)")

    def set(self, values: dict) -> None:
        self.ask("(values) => window.scaleright.set(values)", values)

    def drawn(self) -> dict[str, str]:
        """The marks and texts of each chart, as drawn."""
        return self.ask(
            "Object.fromEntries([...document.querySelectorAll('.sr-chart')].map((f) =>"
            " [f.dataset.srName || f.id, f.querySelector('svg')?.innerHTML || '']))"
        )


@pytest.fixture(scope="session")
def look(browser, site):
    """A page for tests that only look at it, opened once: look(name, width, mode)."""
    made = {}

    def start(name: str, width: int = 1280, mode: str = "light") -> Visit:
        if (name, width, mode) not in made:
            made[name, width, mode] = Visit(browser, site, width, mode).open(name)
        return made[name, width, mode]

    yield start
    for one in made.values():
        one.context.close()


@pytest.fixture
def visit(browser, site):
    """A page for a test that works with it, opened anew: visit(name, width, mode)."""
    made = []

    def start(name: str, width: int = 1280, mode: str = "light") -> Visit:
        made.append(Visit(browser, site, width, mode))
        return made[-1].open(name)

    yield start
    for one in made:
        one.context.close()


@pytest.mark.parametrize("name", [*PAGES, *ONE_EACH, "index.html"])
def test_a_page_asks_nobody_else_and_complains_of_nothing(look, name):
    opened = look(name)
    opened.page.mouse.wheel(0, 5000)
    for _ in range(2):
        opened.page.click(".mode")
    opened.page.wait_for_timeout(100)
    assert opened.troubles == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_chart_draws_and_describes_itself(look, name):
    charts = look(name).ask(
        """[...document.querySelectorAll('.sr-chart')].map((figure) => { const svg = figure.querySelector('svg'), box = svg?.getBoundingClientRect();
        return { name: figure.dataset.srName || figure.id, marks: svg?.querySelectorAll('[class*=role-mark] path, [class*=role-mark] text').length ?? 0,
          width: box?.width ?? 0, height: box?.height ?? 0, column: figure.clientWidth, alt: figure.querySelector('[role=img]')?.getAttribute('aria-label') ?? '',
          wrong: /NaN|undefined|null|Infinity/.test(svg?.textContent ?? '') }; })"""
    )
    assert charts, "a chapter without a chart"
    for chart in charts:
        assert chart["marks"] > 0 and chart["height"] > 40 and not chart["wrong"], chart
        assert 0.6 * chart["column"] < chart["width"] <= chart["column"] + 1, chart
        assert len(chart["alt"].split()) > 4, chart


@pytest.mark.parametrize("name", CHAPTERS)
def test_numbers_in_sentences_are_at_first_what_the_notebook_computed(look, html, name):
    stored = re.findall(
        r'data-sr-signal="(\w+)">([^<]*)<', (html / name).read_text(encoding="utf-8")
    )
    opened = look(name)
    now = opened.ask(
        "[...document.querySelectorAll('[data-sr-signal]')].map((s) => [s.dataset.srSignal,"
        " s.textContent])"
    )
    assert [tuple(pair) for pair in now] == [
        (signal, text.replace("&amp;", "&").replace("&lt;", "<")) for signal, text in stored
    ]


@pytest.mark.parametrize("name", CHAPTERS)
def test_moving_any_control_redraws_a_chart_or_a_sentence_and_reset_undoes_it(visit, name):
    opened = visit(name)
    first = opened.drawn()
    texts = {name: sorted(re.findall(">([^<>]+)</text>", svg)) for name, svg in first.items()}
    said = "[...document.querySelectorAll('.sr-answer, .sr-said')].map((s) => s.textContent).join()"
    first_said = opened.ask(said)
    controls = opened.controls()
    assert controls, "a chapter without a live control"
    silent = []
    for control in controls.values():
        others = {
            "flag": [not control["value"]],
            "choice": [c for c in control.get("choices", []) if c != control["value"]],
        }
        tries = others.get(control["kind"]) or [
            control["low"],
            control["high"],
            (control["low"] + control["high"]) / 2,
        ]
        changed = False
        for value in tries[:6]:
            opened.set({control["name"]: round(value) if control.get("whole") else value})
            changed = changed or opened.drawn() != first or opened.ask(said) != first_said
        if not changed:
            silent.append(control["name"])
        opened.ask("window.scaleright.reset()")
    assert silent == [], "these controls change nothing that the reader sees"
    assert opened.ask(said) == first_said
    assert {
        name: sorted(re.findall(">([^<>]+)</text>", svg)) for name, svg in opened.drawn().items()
    } == texts
    assert opened.troubles == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_all_views_share_the_values_of_the_controls(visit, name):
    opened = visit(name)
    numbers = {
        c["name"]: (c["low"] + c["high"]) / 2
        for c in opened.controls().values()
        if c["kind"] == "number" and not c["whole"]
    }
    opened.set(numbers)
    views = opened.ask(
        """(names) => Object.values(window.scaleright.views).map((view) => { const s = view.getState({ signals: () => true, data: () => false }).signals;
        return Object.fromEntries(names.filter((n) => n in s).map((n) => [n, s[n]])); })""",
        list(numbers),
    )
    assert any(views) or not numbers
    for view in views:
        assert all(math.isclose(value, numbers[key]) for key, value in view.items())
    again = Visit(opened.page.context.browser, opened.site)
    again.open(opened.page.url.removeprefix(opened.site))  # the address carries the case
    assert {
        k: v for k, v in again.ask("window.scaleright.page.values").items() if k in numbers
    } == pytest.approx(numbers)
    again.context.close()


def test_an_address_that_names_a_choice_alone_brings_what_follows_it(visit):
    opened = visit(f"{BUY}?accelerator=H100%20SXM")
    values, follow = opened.ask(
        "[window.scaleright.page.values, window.scaleright.page.follow.accelerator]"
    )
    defaults = opened.ask("window.scaleright.page.defaults")
    assert values["accelerator"] == "H100 SXM" and values["chip_usd"] != defaults["chip_usd"]
    assert {name: values[name] for name in follow["H100 SXM"]} == follow["H100 SXM"]
    opened.open(f"{BUY}?accelerator=H100%20SXM&rent_usd_per_hour=1.25")
    given = opened.ask("window.scaleright.page.values")
    assert (given["rent_usd_per_hour"], given["chip_usd"]) == (1.25, values["chip_usd"])
    # One moved back to the default stays there when the case is opened again.
    opened.set({"chip_usd": defaults["chip_usd"]})
    opened.open(opened.page.url.removeprefix(opened.site))
    assert opened.ask("window.scaleright.page.values.chip_usd") == defaults["chip_usd"]


@pytest.mark.parametrize("row", LIVE, ids=lambda row: f"{Path(row[0]).stem}-{row[2]}-{len(row[1])}")
def test_a_live_number_is_the_librarys_own(visit, row):
    name, values, number, expected = row
    opened = visit(name)
    opened.set(values)
    everything = opened.ask("window.scaleright.page.values")
    assert opened.ask(f"window.scaleright.value({number!r})") == pytest.approx(
        expected(everything), rel=1e-9
    )
    if not number.startswith(IN_PHRASES):
        text = opened.ask(f"window.scaleright.page.hub.signal({number + '_text'!r})")
        assert text in opened.ask("document.querySelector('article').textContent")


@pytest.mark.parametrize("name", [*PAGES, *ONE_EACH])
def test_nothing_overflows_a_phone(look, name):
    opened = look(name, width=360)
    assert opened.ask("document.documentElement.scrollWidth") <= 360
    outside = opened.ask(
        """[...document.querySelectorAll('main *')].filter((e) => !e.closest('.sr-table, pre, div.math, mjx-container, mjx-assistive-mml, .sr-refused') &&
        e.getBoundingClientRect().width > 0 && (e.getBoundingClientRect().right > 361 || e.getBoundingClientRect().left < -1))
        .map((e) => e.tagName + '.' + (e.className.baseVal ?? e.className)).slice(0, 5)"""
    )
    assert outside == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_word_of_a_chart_is_cut_on_a_phone(look, name):
    cut = look(name, width=360).ask(
        """[...document.querySelectorAll('.sr-chart svg text')].filter((t) => { const b = t.getBoundingClientRect(), s = t.closest('svg').getBoundingClientRect();
        return b.width && (b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 || b.bottom > s.bottom + 1); })
        .map((t) => `${t.closest('figure').dataset.srName}: ${t.textContent}`)"""
    )
    assert cut == []


CONTRAST = """() => {
  const parse = (c) => { const n = c.match(/[\\d.]+/g).map(Number); return { rgb: n.slice(0, 3), a: n.length > 3 ? n[3] : 1 }; };
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const under = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a > 0.99) return c.rgb; } return [255, 255, 255]; };
  const low = [];
  const check = (e, color, text) => {
    const [a, b] = [light(color), light(under(e))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${e.tagName} ${text.trim().slice(0, 40)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode, e = node.parentElement;
    if (!/[\\p{L}\\d]/u.test(node.data) || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.closest('script, style, noscript, mjx-assistive-mml, .skip, select')) continue;
    const style = getComputedStyle(e);
    seen += 1;
    check(e, parse(e.closest('svg') ? style.fill : style.color).rgb, node.data);
  }
  document.querySelectorAll('input:not([type=range], [type=checkbox]), select, button').forEach((e) => check(e, parse(getComputedStyle(e).color).rgb, e.value || e.textContent));
  return { seen, low };
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_is_legible(look, name, mode):
    opened = look(name, mode=mode)
    assert opened.ask("document.documentElement.dataset.theme") == mode
    found = opened.ask(CONTRAST)
    assert found["seen"] > 5 and found["low"] == []


def test_the_chosen_mode_is_kept_from_page_to_page(visit):
    opened = visit(PAGES[0])
    opened.page.click(".mode")
    opened.open(CHAPTERS[0])
    assert opened.ask("document.documentElement.dataset.theme") == "dark"


FOCUS = """() => { const e = document.activeElement, s = getComputedStyle(e);
  return { id: e.id || e.className || e.tagName, shown: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2, name: (e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.textContent || e.value || '').trim() }; }"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_keyboard_reaches_and_moves_every_control(visit, name):
    opened = visit(name)
    wanted = set(
        opened.ask(
            "[...document.querySelectorAll('[data-control] :is(input[type=range],"
            " input[type=checkbox], select)')].map((e) => e.id)"
        )
    )
    assert wanted
    reached, moved, before = {}, set(), None
    for _ in range(600):
        opened.page.keyboard.press("Tab")
        focus = opened.ask(FOCUS)
        if focus["id"] == before and focus["id"] in ("BODY", ""):
            break
        before = focus["id"]
        if focus["id"] in wanted and focus["id"] not in reached:
            reached[focus["id"]] = focus
            control = focus["id"].split("-", 1)[1]
            value = opened.ask(f"window.scaleright.page.values[{control!r}]")
            for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Space"):
                opened.page.keyboard.press(key)
                if opened.ask(f"window.scaleright.page.values[{control!r}]") != value:
                    moved.add(focus["id"])
                    break
        if wanted <= set(reached):
            break
    assert set(reached) == wanted and moved == wanted
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []


@pytest.mark.parametrize("name", PAGES)
def test_whatever_can_be_operated_has_a_name(look, name):
    nameless = look(name).ask(
        """[...document.querySelectorAll('button, input:not([type=hidden]), select, a[href]')].filter((e) =>
        !(e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent || e.value || e.title || '').trim()).map((e) => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []


def test_a_value_out_of_bounds_is_refused_in_words(visit):
    opened = visit(CHAPTERS[-1])
    control = next(
        c for c in opened.controls().values() if c["kind"] == "number" and not c["percent"]
    )
    field = opened.page.locator(f"[data-control={control['name']}] .sr-field").first
    field.fill(str(control["high"] * 10))
    field.press("Enter")
    opened.page.keyboard.press("Tab")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["value"]
    assert (
        " to "
        in opened.page.locator(f"[data-control={control['name']}] [role=alert]").first.inner_text()
    )
    field.fill(str(control["low"]))
    field.press("Enter")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["low"]


def test_search_finds_a_word_and_leads_to_its_page(visit):
    opened = visit(PAGES[0])
    opened.page.fill("header input[name=q]", "parameters")
    opened.page.press("header input[name=q]", "Enter")
    opened.page.wait_for_selector("ul.search li a")
    opened.page.wait_for_load_state(
        "networkidle"
    )  # the page reads each result for its words; leaving early breaks that off
    opened.page.click("ul.search li a")
    opened.page.wait_for_load_state()
    assert (
        "search" not in opened.page.url
        and "parameters" in opened.page.inner_text("article").lower()
    )
    assert opened.troubles == []


def test_the_chapter_menu_opens_on_a_phone(visit):
    opened = visit(CHAPTERS[0], width=360)
    assert not opened.page.is_visible("#chapters")
    opened.page.click(".menu")
    opened.page.click(f"#chapters a[href$='{LISTED[-1]}']")
    opened.page.wait_for_load_state()
    assert opened.page.url.endswith(LISTED[-1])


@pytest.mark.parametrize("name", [*PAGES, *SCENARIOS])
def test_every_page_is_light_and_every_link_on_the_site_leads_somewhere(html, name):
    text = (html / name).read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    for address in re.findall(r'(?:href|src)="([^"]+)"', text):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or not parts.path:
            continue
        target = (html / name).parent / unquote(parts.path)
        assert target.exists(), f"{name} links to {address}"


# Take it along, open it elsewhere, know its age


def links(html: Path, name: str, part: str) -> dict[str, str]:
    """The links within a part of a page, by their words."""
    text = re.search(part, (html / name).read_text(encoding="utf-8"), re.DOTALL)[1]
    return {
        unescape(re.sub(r"<[^>]+>", "", words)).strip(): unescape(address)
        for address, words in re.findall(r'<a [^>]*?href="([^"]+)"[^>]*>(.*?)</a>', text)
    }


def beside(html: Path, name: str, address: str) -> Path:
    """The file of the site to which a page's link leads."""
    return (html / name).parent.joinpath(address).resolve()


@pytest.mark.parametrize("name", [*CHAPTERS, *SCENARIOS])
def test_the_notebook_of_a_page_can_be_opened_elsewhere_and_taken_along(html, name):
    chapter = SCENARIOS[name].chapter if name in SCENARIOS else Path(name).stem
    found, host = links(html, name, '<nav class="launch"(.*?)</nav>'), repository.hosting(ROOT)
    assert host.slug.count("/") == 1 and (ROOT / "notebooks" / "text" / f"{chapter}.md").is_file()
    assert found["Binder"].endswith(
        f"/v2/gh/{host.slug}/{host.branch}?urlpath=lab/tree/notebooks/{chapter}.ipynb"
    )
    assert found["Colab"].endswith(
        f"/github/{host.slug}/blob/{host.branch}/notebooks/{chapter}.ipynb"
    )
    assert found["Source"] == f"{host.url}/blob/{host.branch}/notebooks/text/{chapter}.md"
    notebook = nbformat.read(beside(html, name, found["Download notebook"]), as_version=4)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", ())]
    assert ("injected-parameters" in tags) == (name in SCENARIOS) and "setup" in tags


@pytest.mark.parametrize("name", [*CHAPTERS, *SCENARIOS])
def test_every_table_can_be_taken_along(html, name):
    text = (html / name).read_text(encoding="utf-8")
    shown = re.findall(
        r'role="region" aria-label="([^"]*)" tabindex="0">(?:(?!</table>).)*</table></div>(<p'
        r' class="sr-files">.*?</p>)?',
        text,
        re.DOTALL,
    )
    assert shown and all(files for _, files in shown)
    for label, files in shown:
        data, sheet = (
            beside(html, name, re.search(f'href="([^"]+[.]{kind})" download', files)[1])
            for kind in ("json", "csv")
        )
        resource, rows = (
            json.loads(data.read_text()),
            pd.read_csv(sheet, keep_default_na=False, na_values=[""]),
        )
        fields = resource["schema"]["fields"]
        assert (
            resource["title"] == unescape(label)
            and len(rows) == len(resource["data"])
            and len(rows.columns) == len(fields)
        )
        for field, column in zip(fields, rows.columns):
            assert column.startswith(field["name"]) and (
                "unit" not in field or f"[{field['unit']}]" in column or "[" in field["name"]
            )
            if field["type"] == "number":
                expected = [
                    float("nan") if row[field["name"]] is None else float(row[field["name"]])
                    for row in resource["data"]
                ]
                assert pd.to_numeric(rows[column]).tolist() == pytest.approx(expected, nan_ok=True)


def test_a_reader_without_scripts_can_take_tables_and_notebook_along(browser, site):
    context = browser.new_context(java_script_enabled=False, accept_downloads=True)
    page = context.new_page()
    page.goto(site + SCALE)
    for link, name in (
        (".sr-files a:visible >> nth=0", "scaling_math-"),
        (".launch a[download]", "scaling_math.ipynb"),
    ):
        with page.expect_download() as caught:
            page.click(link)
        assert (
            caught.value.suggested_filename.startswith(name)
            and Path(caught.value.path()).stat().st_size > 100
        )
    context.close()


def test_a_downloaded_number_is_the_librarys_own(html):
    sheet = pd.read_csv(html / "downloads" / "scaling_math-all-models.csv").set_index("model")
    assert {
        name: transformer.parameters(catalog.model(name)).total for name in sheet.index
    } == pytest.approx(sheet["parameters"].to_dict())
    rule = pd.read_csv(html / "downloads" / "buy_or_rent-the-rule-by-hours.csv")
    case = {
        p["parameter"]: p["value"]
        for p in json.loads((html / "downloads" / "buy_or_rent-your-case.json").read_text())["data"]
    }
    expected = [
        uncertain(case).terms().break_even_usd_per_hour(hours) for hours in rule["hours a day"]
    ]
    assert rule["an owned hour costs [USD]"].tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_stands_under_its_chapter_with_its_answer(html, name):
    scenario, text = SCENARIOS[name], (html / name).read_text(encoding="utf-8")
    chapter = f"notebooks/{scenario.chapter}.html"
    assert f'{scenario.title}<a class="headerlink"' in unescape(text)
    assert (
        beside(html, name, next(iter(links(html, name, '<p class="sr-case">(.*?)</p>').values())))
        == (html / chapter).resolve()
    )
    listed = (html / chapter).read_text(encoding="utf-8")
    assert (
        beside(
            html, chapter, links(html, chapter, '<ul class="sr-cases">(.*?)</ul>')[scenario.title]
        )
        == (html / name).resolve()
    )
    said = sentence((html / "downloads" / f"{scenario.chapter}-{scenario.name}.ipynb").read_bytes())
    assert (
        said
        and said in unescape(re.search('<ul class="sr-cases">(.*?)</ul>', listed, re.DOTALL)[1])
        and scenario.title in unescape(listed)
    )


@pytest.mark.parametrize("name", [CHAPTERS[0], "book/status.html"])
def test_a_page_warns_of_old_data_on_the_readers_own_day(browser, site, html, name):
    facts = json.loads(
        unescape(
            re.search(
                'class="sr-stale"[^>]*data-sr-tables="([^"]*)"',
                (html / name).read_text(encoding="utf-8"),
            )[1]
        )
    )
    last = {
        fact["title"]: date.fromisoformat(fact["as_of"]) + timedelta(days=fact["days"])
        for fact in facts
    }
    opened = Visit(browser, site, width=360)
    for day in (
        min(last.values()),
        min(last.values()) + timedelta(days=1),
        max(last.values()) + timedelta(days=400),
    ):
        opened.page.clock.set_fixed_time(datetime(day.year, day.month, day.day, 12))
        opened.page.goto(opened.site + name, wait_until="domcontentloaded")
        old = [fact for fact in facts if last[fact["title"]] < day]
        assert opened.page.locator(".sr-stale").is_visible() == bool(old)
        ages = {fact["title"]: (day - date.fromisoformat(fact["as_of"])).days for fact in old}
        wanted = [
            f"{f['title']} ({f['as_of']}): {ages[f['title']]:,} days old, fresh for {f['days']:,}"
            for f in old
        ]
        assert opened.page.locator(".sr-stale li").all_inner_texts() == wanted
        assert opened.ask("document.documentElement.scrollWidth") <= 360
    opened.context.close()


def test_the_status_page_lists_what_there_is(look):
    opened = look("book/status.html")
    rows = opened.ask(
        "[...document.querySelectorAll('article tbody tr')].map((r) => [...r.children].map((c) =>"
        " c.textContent.trim()))"
    )
    pages = opened.ask(
        "[...document.querySelectorAll('article tbody a')].map((a) => a.getAttribute('href'))"
    )
    assert {urljoin("book/status.html", address) for address in pages} == {*CHAPTERS, *SCENARIOS}
    seconds = {
        row[0]: float(row[2]) for row in rows if len(row) == 3 and re.fullmatch(r"[\d.]+", row[2])
    }
    assert {scenario.title for scenario in SCENARIOS.values()} <= set(seconds) and all(
        0 < s < 300 for s in seconds.values()
    )
    package = json.loads((ROOT / "data" / "datapackage.json").read_text())["resources"]
    dated = {
        row[0]: row[1] for row in rows if len(row) == 5 and re.fullmatch(r"\d{4}-\d\d-\d\d", row[1])
    }
    assert dated == {
        f"{entry['title']} ({entry['path'].removesuffix('.csv')})": entry["as_of"]
        for entry in package
    }
    assert str(len(claims.findings())) == next(row for row in rows if row[0] == "all")[1]


def test_the_keyboard_reaches_what_opens_and_downloads(visit):
    opened = visit(CHAPTERS[-1], width=360)
    wanted = set(
        opened.ask("[...document.querySelectorAll('.launch a, .sr-files a')].map((a) => a.href)")
    )
    reached = {}
    for _ in range(400):
        opened.page.keyboard.press("Tab")
        href = opened.ask("document.activeElement.href || ''")
        if href in wanted:
            reached[href] = opened.ask(FOCUS)
        if wanted <= set(reached):
            break
    assert set(reached) == wanted and len(wanted) > 5
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []


def test_a_number_below_zero_is_written_with_one_sign_and_read_with_either(visit):
    opened = visit("notebooks/gpu_prices.html")
    field = opened.page.locator("[data-control=price_change_per_year] .sr-field").first
    assert field.input_value() == "−15"
    for typed in ("-20", "−25 %"):
        field.fill(typed)
        field.press("Enter")
        assert (
            opened.ask("window.scaleright.page.values.price_change_per_year")
            == -float(typed.strip("-−% ")) / 100
        ), typed


def test_a_number_with_a_decimal_comma_is_not_misread(visit):
    opened = visit(BUY)
    field = opened.page.locator("[data-control=rent_usd_per_hour] .sr-field").first
    for typed, read in (
        ("2,40", None),
        ("$2.40", 2.4),
        ("€3", None),
        ("1,2", None),
        ("3 .5", None),
        ("3.5", 3.5),
    ):
        before = opened.ask("window.scaleright.page.values.rent_usd_per_hour")
        field.fill(typed)
        field.press("Enter")
        assert opened.ask("window.scaleright.page.values.rent_usd_per_hour") == (
            before if read is None else read
        ), typed
