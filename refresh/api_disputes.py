"""Which of two prices stands where two lists of token prices disagree; never that of the newer
file.

The lists say more or less of when a price holds. models.dev is a snapshot: its prices are those of
its day. llm-prices gives a first day where somebody reported a change; without one, a price held on
some day before the list's, and may have been cut since. Hence:

1. Of prices with a day, the earlier one ends where the later one begins.
2. A price without a day contests the one that holds. The one stands that more other companies ask
   for the same name: gateways, which pass a price on, and of closed models all who sell them. A
   host of open weights sets its own prices and is no witness.
3. With as many for either, the one with a day stands.

What loses is left out, and the reason names both prices and the count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from refresh.tables import Dropped, Items, Row

UNDATED = "its first day is not stated"
"""Ends the note of a price that held on some day before the list's."""
PRICES = ("input_usd_per_million", "output_usd_per_million", "cache_read_usd_per_million")
_SAME = 0.01
"""Prices this near to each other are one, rounded by one of the lists."""
_SHORT = {name: name.split("_usd")[0].replace("_", " ") for name in PRICES}


def spoken(model_id: str) -> str:
    """The name of a model without the path that a provider puts before it.

    >>> spoken("accounts/fireworks/models/DeepSeek_V3")
    'deepseek.v3'
    """
    return model_id.lower().rpartition("/")[2].replace("_", ".")


def settled(items: Items) -> Items:
    """The same offers, of which no two of one provider and name hold on one day at other prices."""
    rows: list[Row] = []
    for item in items:
        if isinstance(item, Dropped):
            yield item
        else:
            rows.append(item)
    by_offer: dict[tuple, list[Row]] = defaultdict(list)
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_offer[row["provider"], row["model_id"]].append(row)
        by_name[spoken(row["model_id"])].append(row)
    for (_, model_id), offers in by_offer.items():
        yield from _stand(offers, by_name[spoken(model_id)]) if len(offers) > 1 else offers


def _stand(offers: list[Row], named: list[Row]) -> Iterator[Row | Dropped]:
    """Offers of one name that stand beside each other, and why others do not."""
    undated = [row for row in offers if _is_undated(row)]
    dated = sorted((row for row in offers if row not in undated), key=lambda row: row["date"])
    for place, row in enumerate(dated):
        later = [other["date"] for other in dated[place + 1 :] if _differing(row, other)]
        row["until"] = row.get("until") or min(later, default="")
    for row in undated:
        for other in [one for one in dated if _holds(one, row["date"]) and _differing(row, one)]:
            counts = _witnesses(named, row, other), _witnesses(named, other, row)
            lost, won = (other, row) if counts[0] > counts[1] else (row, other)
            offers = [one for one in offers if one is not lost]
            reason = _reason(lost, won, counts)
            won["note"] = "; ".join(filter(None, (won.get("note"), reason)))
            yield Dropped(f"{lost['provider']} {lost['model_id']} ({lost['source']})", reason)
    yield from offers


def _is_undated(row: Row) -> bool:
    return row.get("note", "").endswith(UNDATED) and not row["until"]


def _holds(row: Row, day: str) -> bool:
    return row["date"] <= day and not "" < row["until"] <= day


def _reason(lost: Row, won: Row, counts: tuple[int, int]) -> str:
    """Why one price stands against another, with the witnesses of either."""
    kinds = _differing(lost, won)
    most, least = max(counts), min(counts)
    asking = "company asks" if most == 1 else "companies ask"
    ask = f"{most} other {asking} this price, {least} that of {lost['source']}"
    if counts[0] == counts[1]:
        ask = f"the one says of which day it is, and {counts[0]} other companies ask either"
    return f"{_told(won, kinds)} of {won['source']} stands against {_told(lost, kinds)}: {ask}"


def _differing(one: Row, other: Row) -> list[str]:
    """The prices that both give and that are not the same."""
    return [
        name
        for name in PRICES
        if name in one and name in other and abs(one[name] - other[name]) > _SAME * other[name]
    ]


def _witnesses(named: list[Row], asked: Row, against: Row) -> int:
    """Other companies that ask one of these prices and none of those it is held against."""
    kinds = _differing(asked, against)
    opened = asked.get("open_weights") or against.get("open_weights")
    passing_on = ("gateway",) if opened else ("gateway", "reseller")

    def same(row: Row, one: Row) -> bool:
        return any(kind in row and kind not in _differing(row, one) for kind in kinds)

    return len(
        {
            row["company"]
            for row in named
            if row["offer"] in passing_on and same(row, asked) and not same(row, against)
        }
        - {asked["company"]}
    )


def _told(row: Row, kinds: Iterable[str]) -> str:
    return ", ".join(f"{_SHORT[kind]} {row[kind]:g}" for kind in kinds)
