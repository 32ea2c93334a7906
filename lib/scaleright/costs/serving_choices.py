"""What a case of serving an open model may choose from, as rows for `choose`."""

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
from scaleright.costs.token_offers import paid_tokens
from scaleright.inference.formats import FORMATS
from scaleright.inference.node_speed import Engines, NodeSpeed
from scaleright.market import Hosts, Hours, PaidHour, PaidTokens, api_terms, sale_terms
from scaleright.ops import where
from scaleright.power import SETTINGS, owned_draws
from scaleright.quantity import choose
from scaleright.transformer.parameters import parameters


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
