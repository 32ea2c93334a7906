"""Everyone who sells an open model's tokens, at the price of a mix of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import pandas as pd

from scaleright.catalog import accelerator, model
from scaleright.costs.ownership import (
    made_for_servers,
    place_in_words,
    setting_factors,
    setting_usd_per_kwh,
    stands,
    years_since_release,
)
from scaleright.costs.serving import BreakEvens, Serving, Ways
from scaleright.costs.tokens import mix_usd_per_million
from scaleright.formulas import lookup
from scaleright.inference.formats import FORMATS
from scaleright.inference.node_speed import Engines, NodeSpeed
from scaleright.information import spread_between
from scaleright.market import Hosts, Hours, PaidHour, PaidTokens, api_terms, sale_terms
from scaleright.market.tokens import PRICED, api_prices
from scaleright.ops import where
from scaleright.order import ordered
from scaleright.outputs import Sheet
from scaleright.power import SETTINGS, owned_draws
from scaleright.quantity import choose
from scaleright.transformer.parameters import parameters

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


# What a case of serving an open model may choose from, as rows for `choose`


class Paid(NamedTuple):
    """What is paid for an hour of an accelerator, and for tokens at an API."""

    hour: PaidHour
    asked: PaidTokens

    @property
    def there(self) -> Any:
        """Whether both have a price."""
        return self.hour.there & self.asked.there

    @property
    def why(self) -> Any:
        """Why one has none; empty where both have."""
        return where(self.hour.there, self.asked.why, self.hour.why)


class Found(NamedTuple):
    """What a case costs each way at a speed, from which load, and how that may vary."""

    speed: NodeSpeed
    price: Ways
    evens: BreakEvens
    service: Serving
    paid: Paid

    @property
    def known(self) -> Any:
        """Whether something is served and all has a price."""
        return self.speed.served & self.paid.there

    @property
    def alone(self) -> Any:
        """Whether it is served at a price, and no API has one to compare."""
        hour, asked = self.paid
        return self.speed.served & hour.there & (asked.why != "")

    @property
    def nothing(self) -> Any:
        """What there is not, where nothing can be compared."""
        bare = self.speed.served & self.paid.asked.there
        none = where(bare, "Nobody rents it out like this", "Nothing is served at a price")
        return where(self.alone, "No API sells it", none)

    @property
    def short(self) -> Any:
        """Why it has no price on rented accelerators, in a word or two; empty where it has."""
        unpriced = where(self.paid.hour.there, "", "no such price is listed")
        return where(self.speed.served, unpriced, self.speed.why_not)


@dataclass(frozen=True)
class ServingChoices:
    """Rows by what is chosen.

    engines : by model, accelerator and format
    chips : by accelerator, see `market.sale_terms`, its age_years since its release, and whether
        it is made for servers (server)
    hours, hosts : what an hour of each accelerator costs, and the tokens of each model at an API
    models : by model, see `market.api_terms`, and its parameters
    settings : by setting, see `ownership.setting_factors`, and its usd_per_kwh
    drawn : what each accelerator draws in each setting, serving, see `power.owned_draws`
    """

    engines: Engines
    chips: Mapping[str, Mapping[str, Any]]
    hours: Hours
    hosts: Hosts
    models: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Mapping[str, Any]]
    drawn: Mapping[tuple[str, str], Mapping[str, Any]]

    @classmethod
    def of(
        cls, models: Sequence[str], accelerators: Sequence[str], settings: Sequence[str]
    ) -> Self:
        """Those of some models, accelerators and settings.

        >>> some = ServingChoices.of(["gpt-oss-20b"], ["H100 SXM", "L40S"], ["home"])
        >>> some.every_chip()["chip"].tolist(), [*some.settings]
        (['H100 SXM', 'L40S'], ['home'])
        """
        return cls(
            Engines.of(models, accelerators),
            {
                name: {
                    **sale_terms(name),
                    "age_years": years_since_release(name),
                    "server": made_for_servers(name),
                }
                for name in accelerators
            },
            Hours(accelerators),
            Hosts(models),
            {
                name: {**api_terms(name), "parameters": parameters(model(name)).total}
                for name in models
            },
            {
                name: setting_factors(name) | {"usd_per_kwh": setting_usd_per_kwh(name)}
                for name in settings
            },
            {pair: of for name in accelerators for pair, of in _drawn(name).items()},
        )

    def chosen(self, case: Any) -> tuple[Any, Any, Any]:
        """The rows of a case, of `chips` and `models`, and the factors of `settings` where its chip
        `stands`, that place in words, what the chip draws there, and what is paid for power: there,
        or by the case if it stands where that says.
        """
        chip = choose(self.chips, case.accelerator)
        place = stands(case.setting, chip.server)
        usual = choose(self.settings, place)
        paid = where(place == case.setting, case.usd_per_kwh, usual.usd_per_kwh)
        words = place_in_words(case.setting, chip.server)
        factors = {**usual, "usd_per_kwh": paid, "place": words}
        factors["drawn"] = choose(self.drawn, case.accelerator, place)
        return chip, choose(self.models, case.model), factors

    def paid(self, case: Any) -> Paid:
        """What a case pays for an hour of its accelerator and for tokens at an API: prices of the
        reader's own, or those under its contract, from its seller and at its host, which serves 16
        bits where the case asks for them.
        """
        of = case.accelerator, case.contract, case.seller
        own = {kind: getattr(case, f"api_{kind}") for kind in ("input", "cached", "output")}
        request = case.input_tokens, case.output_tokens, case.cached_share
        bits = where(case.precision == FORMATS[0], 16.0, 0.0)
        return Paid(
            self.hours.paid(*of, case.rent_usd_per_hour),
            paid_tokens(self.hosts, case.model, case.api_host, request, own, bits),
        )

    def every_chip(self) -> pd.DataFrame:
        """The rows of `chips` as a table.

        Columns: chip, and the keys of `chips`.
        """
        return pd.DataFrame([{"chip": name} | dict(of) for name, of in self.chips.items()])


def _drawn(name: str) -> dict[tuple[str, str], dict[str, float]]:
    """`owned_draws` of an accelerator; nan where its power is unknown, which leaves renting it."""
    if accelerator(name).tdp_watts:
        return owned_draws([name], "serving")
    return {(name, of): dict.fromkeys(NO_DRAW, math.nan) for of in SETTINGS}


NO_DRAW = ("busy_watts", "idle_watts", "most_watts")
"""What `owned_draws` tells of each."""
