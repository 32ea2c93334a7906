"""Everyone who sells an open model's tokens, at the price of a mix of them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.costs.tokens import mix_usd_per_million
from scaleright.formulas import lookup
from scaleright.information import spread_between
from scaleright.market import Hosts, PaidHour, PaidTokens
from scaleright.market.tokens import PRICED, api_prices
from scaleright.ops import where
from scaleright.order import ordered
from scaleright.outputs import Sheet

_HEADS = {
    "provider": "provider",
    "company": "company",
    "offer": "offer",
    "input_usd_per_million": "input",
    "output_usd_per_million": "output",
    "cache_read_usd_per_million": "cached input",
    "context_tokens": "context",
    "date": "listed",
    "mix": "this mix",
}


@lookup
def offers_for(
    model: str, input_tokens: float, output_tokens: float, cached_share: float
) -> pd.DataFrame:
    """The priced offers of an open model, gateways' too, cheapest first for a request.

    Columns: provider, company, offer, input, output, cached input [USD / 1e6 token], context
    [token], listed, this mix [USD / 1e6 output token with its prompts].

    >>> offers = offers_for("Llama-3.3-70B", 2000, 500, 0.0)
    >>> bool(offers["this mix"].is_monotonic_increasing), offers.columns[0]
    (True, 'provider')
    """
    found = api_prices(model, PRICED)
    asked, written = found["input_usd_per_million"], found["output_usd_per_million"]
    cached = found["cache_read_usd_per_million"].fillna(asked)
    request = input_tokens, output_tokens, cached_share
    found = found.assign(
        mix=mix_usd_per_million(*request, asked.to_numpy(), written.to_numpy(), cached.to_numpy()),
        date=found["date"].dt.strftime("%Y-%m-%d"),
        offer=found["offer"].str.replace("_", " "),
    )
    return ordered(found, "mix", ignore_index=True)[list(_HEADS)].rename(columns=_HEADS)


@lookup
def offers_sheet(
    model: str, input_tokens: float, output_tokens: float, cached_share: float
) -> Sheet:
    """`offers_for` as a table, and how far hosts' offers lie apart."""
    offers = offers_for(model, input_tokens, output_tokens, cached_share)
    if offers.empty:
        return Sheet(offers, f"Nobody lists an API price of {model}", f"No offers of {model}")
    asked = offers.loc[offers["offer"] != "gateway", "this mix"]
    return Sheet(
        offers,
        f"Offers of {model}, USD per million tokens; the mix is per million output tokens with"
        " prompts; a dash where the list does not say",
        f"All {len(offers)} offers of {model}, cheapest first; for this mix the dearest of"
        f" {len(asked)} by hosts asks {asked.max() / asked.min():.2g} times what the cheapest does",
        dict.fromkeys(("input", "output", "cached input", "this mix"), "usd")
        | {"context": "whole"},
    )


@lookup
def paid_tokens(
    hosts: Hosts,
    model: Any,
    host: Any,
    request: tuple[Any, Any, Any],
    own: Mapping[str, Any] | None = None,
    bits: Any = 0.0,
) -> PaidTokens:
    """What a case pays for its tokens at an API: wherever an API is compared, by default at the
    host that is cheapest for its requests (`market.BEST`).

    request : tokens read and written, and the share of the former found in a cache
    own, bits : as `Hosts.asked` takes them

    >>> asked = paid_tokens(Hosts(["Llama-3.3-70B"]), "Llama-3.3-70B", "cheapest", (2000, 500, 0.0))
    >>> asked.output.usd.value < asked.median.output.value
    True
    """

    def bill(*prices: Any) -> Any:
        """A request at the prices of a host."""
        return mix_usd_per_million(*request, *prices)

    reads, writes, _ = request
    return hosts.asked(model, host, own, bill, reads + writes, bits)


@lookup
def hosts_spread(asked: PaidTokens, request: tuple[Any, Any, Any]) -> Any:
    """Spread of the logarithm of what an API asks for a request [1]: the cheapest host, which may
    not do, up to the median of all; which host to ask is no doubt where the reader has chosen.

    >>> asked = paid_tokens(Hosts(["Llama-3.3-70B"]), "Llama-3.3-70B", "Groq", (2000, 500, 0.0))
    >>> hosts_spread(asked, (2000, 500, 0.0)).value
    0.0
    """
    low, high = (
        mix_usd_per_million(*request, *(getattr(of, end) for of in _in_order(asked)))
        for end in ("low", "high")
    )
    return where(asked.best & asked.there, spread_between(low, high), 0.0)


@lookup
def median_over(asked: PaidTokens, request: tuple[Any, Any, Any]) -> Any:
    """What a request costs at the median of a model's hosts, over what it costs as asked [1].

    >>> asked = paid_tokens(Hosts(["Llama-3.3-70B"]), "Llama-3.3-70B", "median", (2000, 500, 0.0))
    >>> round(median_over(asked, (2000, 500, 0.0)).value, 6)
    1.0
    """
    of, usd = asked.median, [of.usd for of in _in_order(asked)]
    middle = mix_usd_per_million(*request, of.input, of.output, of.cached)
    return middle / mix_usd_per_million(*request, *usd)


def _in_order(asked: PaidTokens) -> tuple[Any, Any, Any]:
    """The prices of input, output and cached input."""
    return asked.input, asked.output, asked.cached


@lookup
def price_spans(hours: Mapping[Any, PaidHour], asked: PaidTokens) -> pd.DataFrame:
    """How far the listings of accelerators, and of a model's tokens, lie apart.

    hours : rents by the words for them
    asked : the prices of tokens

    Columns: price, lowest, median, highest, highest over lowest [1], as of.

    >>> from scaleright.market import Hosts, Hours
    >>> hour = Hours(["B200"]).paid("B200", "on demand", "median")
    >>> asked = Hosts(["Llama-3.3-70B"]).asked("Llama-3.3-70B", "median")
    >>> spans = price_spans({"rent of a B200": hour}, asked)
    >>> spans["price"][0], len(spans)
    ('rent of a B200 [USD/h]', 4)
    """
    rows = [(what + " [USD/h]", of, of.age) for what, of in hours.items()]
    rows += [
        (f"{said} at an API [USD/M tokens]", span, asked.age)
        for said, span in (
            ("input", asked.input),
            ("cached input", asked.cached),
            ("output", asked.output),
        )
    ]
    return pd.DataFrame(
        [
            {
                "price": what,
                "lowest": of.low,
                "median": of.usd,
                "highest": of.high,
                "highest over lowest": of.high / of.low,
                "as of": age,
            }
            for what, of, age in rows
        ]
    )
