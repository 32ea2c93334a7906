"""Prices of tokens at APIs: one offer a row, USD per million tokens, from two public lists.

Who sells it and what is sold are facts of `rules.csv`: the provider's name and company, whether it
made the model, hosts it, passes on what others host or sells a subscription, and which published
weights a name stands for. A name stands for weights only if a line says so: fine-tuned and
distilled variants are other models, and a host's own variants are not guessed. A name that says FP8
stands for the weights it is made of, with its format in a column: most hosts serve in FP8 without a
word, and only those who say so would be left out. So do a host's Turbo and -tput where its
documentation says that they are FP8 (Together AI's list of serverless models, where Lite is INT4;
DeepInfra's page of Llama-3.3-70B). Coarser formats stay apart, since their answers are others, and
so do the faster tiers of hosts who list the plain one.

Sites, regions and plans of one company are one company; a subsidiary with a price list of its own
is another. A provider is a gateway if its documentation says that others host what it sells, or if
it lists closed models of three makers or more without documented hosts of its own, since only
clouds with a license can run those. Whatever stays in doubt is a company and a host of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path
from statistics import median

from refresh.api_disputes import UNDATED, settled, spoken
from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, sift

SOURCES = frozenset({"modelsdev2026", "llmprices2026"})
MODELS_DEV = "llm_api_prices/models_dev_prices_2026-07-02.csv"
LLM_PRICES = "llm_api_prices/simonw_llm_price_history_2026-08-05.csv"
_FORMATTED = re.compile(r"-(fp8|turbo|tput|fp16)(-dynamic|-fast)?$")
"""What a name says of its format, after that of its weights."""
_SLIP = 20
"""A price so many times that of the others, or so small a part of it, is a slip of units."""


def rows(raw: Path, models: list[Row]) -> Items:
    """Offers for `api_prices`; `models` are the rows of the table of models, whose names and
    aliases releases must be.
    """
    keys = {
        name: row["name"]
        for row in models
        for name in (row["name"], *(row["aliases"] or "").split(";"))
        if name
    }
    found, dropped = sift(
        item for importer in (_models_dev, _llm_prices) for item in importer(raw, keys)
    )
    yield from dropped
    yield from settled(_without_copies(_without_slips(found)))


def _day(file: str) -> str:
    return re.search(r"\d{4}-\d\d-\d\d", file)[0]


def _offer(file: str, row: Row, provider: str, keys: dict[str, str], **more: str) -> Row | Dropped:
    """One raw row as an offer, or why it is none."""
    model_id = row["model_id"]
    provider = rule(file, "provider", provider).ours
    label, name = f"{provider} {model_id}", f"{provider} | {model_id}"
    for kind, asked in (("output", spoken(model_id)), ("currency", name)):
        if (said := rule(file, kind, asked)).action == "drop":
            return Dropped(label, said.reason)
    prices = {
        quantity: float(f"{value:.6g}") for quantity, value, _ in quantities(row, file, label)
    }
    if not {"input_usd_per_million", "output_usd_per_million"} <= set(prices):
        return Dropped(label, "no price")
    if (
        min(prices.values()) < 0
        or prices["input_usd_per_million"] > 1000
        or prices["output_usd_per_million"] > 1000
    ):
        return Dropped(label, "a price below 0 or above 1,000 USD per million tokens")
    if prices["input_usd_per_million"] > 0 == prices["output_usd_per_million"]:
        return Dropped(label, "input priced and output free: it writes no text of its own")
    offer, shape = rule(file, "offer", name).ours, rule(file, "format", name.lower()).ours
    plain = _FORMATTED.sub("", spoken(model_id)) if shape else spoken(model_id)
    release = rule(file, "model", plain).ours
    if release and release not in keys:
        raise RefreshError(
            f"{file}: {model_id} is said to be {release!r}, which is no name or alias of the table"
            " of models"
        )
    if prices["output_usd_per_million"] == 0 and offer != "subscription":
        offer = "free"
    open_weights = (
        True if release else {"True": True, "False": False}.get(row.get("open_weights", ""))
    )
    return _cache_sorted(
        {
            "provider": provider,
            "company": rule(file, "company", provider).ours or provider,
            "offer": offer,
            "model_id": model_id,
            "release": release,
            "model": keys.get(release, ""),
            "open_weights": open_weights,
            "format": shape if release else "",
        }
        | prices
        | more
    )


def _cache_sorted(row: Row) -> Row:
    """A cache at 0 beside paid input, or dearer than it, stands for a price that the list does not
    know.
    """
    for quantity, most in (
        ("cache_read_usd_per_million", row["input_usd_per_million"]),
        ("cache_write_usd_per_million", float("inf")),
    ):
        if row["input_usd_per_million"] and not 0 < row.get(quantity, 0) <= most:
            row.pop(quantity, None)
    if not row.get("context_tokens"):
        row.pop("context_tokens", None)
    return row


def _models_dev(raw: Path, keys: dict[str, str]) -> Items:
    for row in read_csv(raw, MODELS_DEV):
        if row["modalities_out"] and "text" not in row["modalities_out"].split("+"):
            yield Dropped(f"{row['provider']} {row['model_id']}", "makes no text, says the list")
        else:
            yield _offer(
                MODELS_DEV,
                row,
                row["provider"],
                keys,
                date=_day(MODELS_DEV),
                source="modelsdev2026",
            )


def _llm_prices(raw: Path, keys: dict[str, str]) -> Items:
    """Prices hold from the day that the list states; without one they are placed on the day of the
    list, one that had ended on its last day.
    """
    listed = _day(LLM_PRICES)
    for row in read_csv(raw, LLM_PRICES):
        until, note = row["to_date"], "list price of the vendor"
        if tier := re.search(r"[≤>]\d+k", row["name"]):
            note += f", for prompts {tier[0]} tokens"
        day = row["from_date"] or listed
        if not row["from_date"]:
            note += f"; {UNDATED}"
        if until and not row["from_date"] and until <= listed:
            day = str(date.fromisoformat(until) - timedelta(days=1))
        yield _offer(
            LLM_PRICES,
            row,
            row["vendor"],
            keys,
            date=day,
            until=until,
            source="llmprices2026",
            note=note,
        )


def _without_slips(found: list[Row]) -> Items:
    """Drop an offer whose prices are both far above, or both far below, those of three or more
    others of the same name.
    """
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in (row for row in found if row["output_usd_per_million"]):
        by_name[spoken(row["model_id"])].append(row)
    for row in found:
        others = [
            other
            for other in by_name[spoken(row["model_id"])]
            if other["provider"] != row["provider"]
        ]
        ends = (
            ("input_usd_per_million", "output_usd_per_million")
            if len(others) >= 3 and row["output_usd_per_million"]
            else ()
        )
        times = [row[end] / median(other[end] for other in others) for end in ends]
        if times and (min(times) > _SLIP or max(times) < 1 / _SLIP):
            how = f"over {_SLIP} times" if min(times) > _SLIP else f"under 1/{_SLIP} of"
            yield Dropped(
                f"{row['provider']} {row['model_id']}",
                f"{how} what {len(others)} others ask: a slip of units",
            )
        else:
            yield row


def _without_copies(items: Items) -> Items:
    """Drop what a provider lists again for a region at the same price."""
    seen = set()
    for item in items:
        if not isinstance(item, Dropped):
            name = re.sub(r"^(us|eu|au|jp|global)\.|-v?1:0$", "", item["model_id"])
            key = (
                item["provider"],
                item["date"],
                name,
                item["input_usd_per_million"],
                item["output_usd_per_million"],
            )
            if name != item["model_id"] and key in seen:
                item = Dropped(
                    f"{item['provider']} {item['model_id']}",
                    "the same offer under the name of a region or version, at the same price",
                )
            seen.add(key)
        yield item
