"""Rules about chips that are compared."""


def runs_somewhere(
    task: str,
    model: str,
    precision: str,
    pace_tokens_per_s: float,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
    traffic: str,
    paid: str,
    contract: str,
    seller: str,
    vendor: str,
    segment: str,
    least_providers: int,
    tokens_per_s: float | None,
    training_precision: str,
    tuning: str,
) -> None:
    """A workload that some chip of those that are considered can run."""
    from scaleright import market
    from scaleright.decisions import hardware_candidates as chips
    from scaleright.decisions.hardware_choice import usual
    from scaleright.inference.demand import requests_of

    listed, best = chips.candidates(vendor, segment, least_providers), market.BEST
    under = market.LASTING if contract == best else [contract]
    listed["rented"] = [
        any(seller in market.sellers(name, of) for of in under) for name in listed.index
    ]
    if paid == "own":
        sold = listed[listed["bought"]]
        if sold.empty:
            raise ValueError("the catalog has no purchase price of these chips; rent them")
    else:
        sold = listed[listed["rented"] | (listed["bought"] & (paid == best))]
        if not listed["rented"].any():
            known = {of for name in listed.index for of in market.contracts(name)}
            offered = ", ".join(of for of in market.CONTRACTS if of in known)
            raise ValueError(
                f"{seller} sells none of these chips {contract}; contracts that some are sold"
                f" under: {offered}"
            )
    if task == "training":
        asked = tokens_per_s or usual()["training"]["tokens_per_s"]
        chips.require_pace(model, training_precision, sold.index, asked, tuning)
        return
    load = requests_of(traffic, input_tokens, output_tokens, cached_share)
    known = set(chips.serving_chips())
    if not any(
        name in known and chips.serves(model, name, precision, load, pace_tokens_per_s)
        for name in sold.index
    ):
        raise ValueError(
            "no node of these chips serves such requests in that format at that pace: allow another"
            " format, a slower pace, shorter requests, other chips or fewer clouds"
        )
