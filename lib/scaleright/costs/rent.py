"""Accelerators paid by the hour."""

from scaleright.formulas import COUNT, FRACTION, HOURS_A_DAY, NON_NEGATIVE, POSITIVE, closed_form
from scaleright.market import paid_accelerators
from scaleright.transformer.flops import compute_seconds
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, MONTHS_PER_YEAR, SECONDS_PER_HOUR


@closed_form(usd_per_hour=NON_NEGATIVE, hours_per_day=HOURS_A_DAY)
def rent_usd_per_year(usd_per_hour, hours_per_day):
    """Yearly bill of one rented accelerator [USD/year], paid only for the hours it runs.

    Parameters
    ----------
    usd_per_hour : rent of one accelerator [USD/h]
    hours_per_day : mean paid hours a day [h/day], 0 to 24

    Source: definition.

    >>> rent_usd_per_year(2.0, 24.0)
    17532.0
    """
    return usd_per_hour * hours_per_day * DAYS_PER_YEAR


@closed_form(rival_usd=POSITIVE, chip_hours=POSITIVE, fixed_usd=NON_NEGATIVE)
def usd_per_hour_to_win(rival_usd, chip_hours, fixed_usd=0.0):
    """Price of an hour below which work on rented accelerators costs less than a rival [USD/h].

    Parameters
    ----------
    rival_usd : the rival's bill for the same work [USD]
    chip_hours : that the work takes on the accelerators [h], the bill at a dollar an hour
    fixed_usd : of their bill, what does not hang on the price of an hour [USD]

    >>> usd_per_hour_to_win(100.0, 40.0, 20.0)
    2.0
    """
    return (rival_usd - fixed_usd) / chip_hours


@closed_form(
    flop=NON_NEGATIVE, peak_flops=POSITIVE, utilization=FRACTION, usd_per_hour=NON_NEGATIVE
)
def compute_usd(flop, peak_flops, utilization, usd_per_hour):
    """Cost of so much arithmetic on rented accelerators [USD].

    Parameters
    ----------
    flop : floating-point operations to be done [FLOP]
    peak_flops : dense peak of one accelerator [FLOP/s]
    utilization : achieved share of that peak (MFU) [1], 0 < utilization <= 1
    usd_per_hour : rent of one accelerator [USD/h]

    Source: definition; Andreessen Horowitz prices GPT-3's 3.14e23 FLOP this way at a utilization of
    1.

    >>> round(compute_usd(3.14e23, 312e12, 1.0, 2.0))
    559117
    """
    return compute_seconds(flop, peak_flops, utilization) / SECONDS_PER_HOUR * usd_per_hour


@closed_form(gb_per_month=NON_NEGATIVE, usd_per_gb=NON_NEGATIVE)
def egress_usd_per_year(gb_per_month, usd_per_gb):
    """What moving data out of a cloud costs a year [USD/year].

    Parameters
    ----------
    gb_per_month : data moved out a month [GB/month]
    usd_per_gb : egress price [USD/GB]

    >>> egress_usd_per_year(100.0, 0.1)
    120.0
    """
    return gb_per_month * usd_per_gb * MONTHS_PER_YEAR


@closed_form(
    usd_per_accelerator_hour=POSITIVE,
    accelerators=COUNT,
    per_instance=COUNT,
    used_share=FRACTION,
    gb_per_month=NON_NEGATIVE,
    usd_per_gb=NON_NEGATIVE,
)
def cloud_usd_per_month(
    usd_per_accelerator_hour, accelerators, per_instance, used_share, gb_per_month, usd_per_gb
):
    """What a month at a cloud costs, paid by the hour: whole instances in the hours of use, and the
    data moved out [USD/month].

    Parameters
    ----------
    usd_per_accelerator_hour : price of one accelerator of the instance [USD/h]
    accelerators : how many are needed at once [1]
    per_instance : how many come in one instance [1]
    used_share : share of all hours in which they are used [1]
    gb_per_month, usd_per_gb : data moved out [GB/month] and its price [USD/GB]

    Source: definition.

    >>> cloud_usd_per_month(2.0, 1, 8, 0.5, 100.0, 0.09)
    5853.0
    """
    node = usd_per_accelerator_hour * paid_accelerators(accelerators, per_instance)
    return (
        rent_usd_per_year(node, HOURS_PER_DAY * used_share)
        + egress_usd_per_year(gb_per_month, usd_per_gb)
    ) / MONTHS_PER_YEAR
