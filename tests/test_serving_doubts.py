"""How far what nobody knows moves where renting meets an API: what is set has no spread."""

from cases import quantities
from scaleright.costs.serving import Serving, break_even_range
from scaleright.quantity import evaluate, given

CASE = {"utilization": 0.4, "contract": "on demand", "rent_usd_per_hour": 0.0}


def test_a_break_even_moves_with_speed_and_with_a_rent_that_nothing_fixes():
    case = quantities(CASE)
    rent, api = given("hour", 4.0), (0.6, 0.3, 0.72)
    service = Serving(500.0, 0.2, rent, case.utilization, 2000, 500, 0.0, *api)
    spread = {"speed_low": 0.8, "speed_high": 1.25}
    ends = break_even_range(Serving(**vars(service) | {"spread": spread}), case)
    low, high = (end.value for end in ends)
    assert low < service.break_even.value < high
    for told in ({"contract": "one year"}, {"rent_usd_per_hour": 2.0}):
        narrow = evaluate([*ends], told)
        assert low < narrow[0] < narrow[1] < high
