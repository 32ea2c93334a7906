"""What a case of serving an open model may choose from, as rows for `choose`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import model
from scaleright.costs.ownership import setting_factors, setting_usd_per_kwh
from scaleright.inference.node_speed import engine_rows
from scaleright.market import api_terms, rent_terms
from scaleright.quantity import choose
from scaleright.transformer.parameters import parameters


@dataclass(frozen=True)
class ServingChoices:
    """Rows by what is chosen.

    engines : by model and accelerator, see `engine_rows`
    chips : by accelerator, see `market.rent_terms`
    hosts : by model, see `market.api_terms`, and its parameters
    settings : by setting, see `ownership.setting_factors`, and its usd_per_kwh
    """

    engines: Mapping[tuple[str, str], Any]
    chips: Mapping[str, Mapping[str, Any]]
    hosts: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(
        cls, models: Sequence[str], accelerators: Sequence[str], settings: Sequence[str]
    ) -> Self:
        """Those of some models, accelerators and settings.

        >>> some = ServingChoices.of(["gpt-oss-20b"], ["H100 SXM", "L40S"], ["home"])
        >>> some.every_chip()["accelerator"].tolist(), [*some.settings]
        (['H100 SXM', 'L40S'], ['home'])
        """
        return cls(
            engine_rows(models, accelerators),
            {name: rent_terms(name) for name in accelerators},
            {
                name: {**api_terms(name), "parameters": parameters(model(name)).total}
                for name in models
            },
            {
                name: setting_factors(name) | {"usd_per_kwh": setting_usd_per_kwh(name)}
                for name in settings
            },
        )

    def chosen(self, case: Any) -> tuple[Any, Any, Any]:
        """The rows of a case, of `chips`, `hosts` and `settings`."""
        return (
            choose(self.chips, case.accelerator),
            choose(self.hosts, case.model),
            choose(self.settings, case.setting),
        )

    def api_prices(self, name: str) -> dict[str, float]:
        """What the hosts of a model ask at the median, as parameters [USD / 1e6 token]."""
        return {f"api_{kind}": self.hosts[name][kind] for kind in ("input", "output", "cached")}

    def every_chip(self) -> pd.DataFrame:
        """The rows of `chips` as a table.

        Columns: accelerator, and the keys of `market.rent_terms`.
        """
        return pd.DataFrame([{"accelerator": name} | dict(of) for name, of in self.chips.items()])
