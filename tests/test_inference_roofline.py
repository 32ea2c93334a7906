"""The chapter `inference_roofline`: its headline is the library's, a wrong case is refused; the
balance of a chip, claims on latency.
"""

import math

import pytest
from built import BOOK
from scaleright import catalog
from scaleright.chapters.inference_roofline.model import Batch, Servers
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.inference.curves import curves
from scaleright.inference.demand import requests_of
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.serving import steady
from scaleright.inference.splits import require_server
from scaleright.market import STEADY, listed_hour
from scaleright.press.execute import answer
from scaleright.quantity.graph import value_of
from scaleright.roofline import balance_rows, matmul_seconds
from scaleright.units import usd

CASE = Deployment(
    catalog.model("Llama-3.1-70B"), catalog.accelerator("B200"), "NVFP4", software="vLLM"
)


def test_the_headline_is_the_librarys():
    said = answer(BOOK.notebook("inference_roofline").read_bytes())
    load = requests_of("unknown", 2000, 500)
    point = curves([CASE])[0].at(64.0, load)
    hour = listed_hour("B200", STEADY).usd
    price = usd_per_million_tokens(hour, point.beat.requests * 500 / point.step_s, 0.4)
    assert f" {usd(price)} per million output tokens, 64 requests at once." in said
    assert "on 1 B200, of 11 the cheapest" in said and "at 40 % utilization" in said
    true = steady(CASE, load, batch=64.0)
    assert price == pytest.approx(
        usd_per_million_tokens(hour, true.output_tokens_per_s, 0.4), rel=0.02
    )


def test_arithmetic_and_reading_take_as_long_at_the_balance():
    rows = balance_rows(800e12, 3.2e12, 1.0)
    few, many = (
        matmul_seconds(n, 65536, 65536, 800e12 / 0.88, 3.2e12, 1.0, tile_m=1, tile_n=1, ramp_k=0)
        for n in (rows / 10, 10 * rows)
    )
    assert few == pytest.approx(65536**2 / 3.2e12, rel=0.02)  # reading alone
    assert many == pytest.approx(2 * 10 * rows * 65536**2 / 800e12, rel=0.02)  # arithmetic alone


def test_a_larger_batch_is_cheaper_and_slower():
    (one,), load = curves([CASE]), Load(2000, 500)
    points = [one.at(float(batch), load) for batch in (1, 4, 16, 64, 256)]
    each = [point.step_s / point.beat.requests for point in points]
    waits = [point.tpot_s for point in points]
    assert each == sorted(each, reverse=True) and waits == sorted(waits)
    # at first nearly free, at last hardly a gain
    assert each[0] / each[1] > 3 and each[3] / each[4] < 2


def test_tokens_read_and_written_cost_what_the_batch_does():
    load = Load(2000, 500, 0.5)
    choice = "Llama-3.1-70B", "H100 SXM", "FP8", "4"
    server = Servers.of(*([of] for of in choice)).chosen(*choice)
    many, alone = (Batch(server, load, server.curve.at(n, load), 5.0 / n) for n in (8.0, 1.0))
    read, written = map(value_of, (many.usd_per_million_read, many.usd_per_million_written))
    assert 1000 * read + 500 * written == pytest.approx(500 * 5.0 / 8)
    assert value_of(many.over(alone, 8.0)["cost of a token"]) == pytest.approx(1 / 8)
    fit, none = (map(value_of, many.parts(n).values()) for n in (8.0, many.room + 1))
    step_s = pytest.approx(value_of(many.step.step_s), rel=1e-3)
    assert math.fsum(seconds for seconds in fit if seconds > 0) == step_s
    assert all(map(math.isnan, none))


@pytest.mark.parametrize(
    "model, precision, load, said",
    [
        ("Llama-3.1-70B", "INT4", Load(100_000, 31_000), "does not fit beside the weights"),
        ("Llama-3.1-405B", "FP8", Load(2000, 500), "nearest .* chips = 8"),
    ],
)
def test_a_chip_without_room_is_refused_with_what_has(model, precision, load, said):
    with pytest.raises(ValueError, match=said):
        require_server(catalog.model(model), catalog.accelerator("H100 SXM"), precision, 1, load)
