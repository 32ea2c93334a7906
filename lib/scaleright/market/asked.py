"""What an API asks for the tokens of any model by the name under which it is listed: one with open
weights, at the median of its hosts, or one that its maker alone sells, at the maker's own price.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from scaleright.catalog import remembered
from scaleright.market.tokens import api_price, api_prices

MAKERS = ("Anthropic", "Google", "OpenAI")
"""Companies that sell models whose weights nobody else has."""


@remembered
def closed_models() -> tuple[str, ...]:
    """Names of the models that their makers alone sell.

    >>> "gpt-4.1" in closed_models()
    True
    """
    offers = api_prices(offers=("first_party",))
    own = offers[offers["company"].isin(MAKERS) & offers["release"].isna()]
    return tuple(sorted(own["model_id"].unique()))


@remembered
def asked_tokens(model: str) -> Mapping[str, Any]:
    """What a million tokens of a model cost at an API, as a row for `choose`.

    Returns
    -------
    input, output : [USD / 1e6 token]
    counted, age : in words, whose price and of which days it is

    Raises
    ------
    LookupError : nobody lists the model; the nearest names are offered.

    >>> asked = asked_tokens("gpt-4.1")
    >>> asked["input"] < asked["output"], asked["counted"]
    (True, 'OpenAI')
    """
    if model not in closed_models():
        price = api_price(model)
        found = {"input": price.input.best, "output": price.output.best}
        counted = f"median of {price.companies} hosts" if price.companies > 1 else "its one host"
        dates = price.since, price.as_of
    else:
        offers = api_prices(offers=("first_party",))
        own = offers[(offers["model_id"] == model) & offers["company"].isin(MAKERS)]
        kinds = {kind: own[f"{kind}_usd_per_million"].median() for kind in ("input", "output")}
        found = {kind: float(usd) for kind, usd in kinds.items()}
        counted = ", ".join(sorted(own["company"].unique()))
        dates = own["date"].dt.date.min(), own["date"].dt.date.max()
    age = " to ".join(dict.fromkeys(map(str, dates)))
    return MappingProxyType(found | {"counted": counted, "age": age})
