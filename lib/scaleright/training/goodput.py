"""Goodput of a job that is interrupted at random: what is left after checkpoints, lost work and
restarts.

Interruptions come independently of each other at a constant mean rate. After each, the job restarts
from its last checkpoint. Times are those of the whole job: the mean time between interruptions of a
job on many machines is that of one machine divided by their number.
"""

from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.ops import exp, minimum, sqrt, where

SPAN = Domain(0.0, 1e12, (1.0, 1e5), open_low=True)
"""A finite time that is not nothing [s]."""


@closed_form(restart_s=NON_NEGATIVE, mtbf_s=POSITIVE)
def available_share(restart_s, mtbf_s):
    """Share of the time in which a service without state is up [1]: only restarts are lost.

    Parameters
    ----------
    restart_s : time from an interruption until work goes on, itself open to interruption [s]
    mtbf_s : mean time between interruptions [s]; may be infinite

    Source: [daly2006]'s expected time without checkpoints or work to redo.

    >>> round(available_share(360.0, 36_000.0), 9), available_share(360.0, float("inf"))
    (0.990049834, 1.0)
    """
    return exp(-restart_s / mtbf_s)


@closed_form(interval_s=SPAN, checkpoint_s=NON_NEGATIVE, restart_s=NON_NEGATIVE, mtbf_s=POSITIVE)
def useful_share(interval_s, checkpoint_s, restart_s, mtbf_s):
    """Share of the time that goes into work which is kept [1].

    Parameters
    ----------
    interval_s : work between two checkpoints, without writing them [s]
    checkpoint_s : time that a checkpoint stops the work [s]
    restart_s : time from an interruption until work goes on from the last checkpoint [s]
    mtbf_s : mean time between interruptions of the job [s]; may be infinite

    Source: [daly2006], the complete model of the expected time M e^(R/M) (e^((t+d)/M) - 1) / t of a
    unit of work, with interval t, checkpoint d, restart R and mean time between interruptions M.

    >>> round(useful_share(3600.0, 60.0, 600.0, 86_400.0), 4), useful_share(3600.0, 400.0, 600.0,
    ...     float("inf"))
    (0.9563, 0.9)
    """
    segment = (interval_s + checkpoint_s) / mtbf_s
    # x / (e^x - 1), by its series where the difference would lose digits; e^-x cannot overflow.
    long = where(segment > 1e-3, segment, 1.0)
    kept = where(
        segment > 1e-3,
        long * exp(-long) / (1 - exp(-long)),
        1 - segment / 2 + segment * segment / 12,
    )
    return available_share(restart_s, mtbf_s) * kept * interval_s / (interval_s + checkpoint_s)


@closed_form(checkpoint_s=POSITIVE, mtbf_s=POSITIVE)
def best_checkpoint_interval_s(checkpoint_s, mtbf_s):
    """Work between two checkpoints that keeps the most of the time [s]; the time of a restart does
    not matter to it.

    The first term is the rule of Young, sqrt(2 d M), from which Daly starts.

    Parameters
    ----------
    checkpoint_s : time that a checkpoint stops the work [s]; one that takes none leaves nothing to
        weigh up
    mtbf_s : mean time between interruptions of the job [s]; infinite gives infinity: never

    Source: [daly2006], the higher-order optimum; [young1974] for the first term.

    >>> round(best_checkpoint_interval_s(60.0, 86_400.0)), round((2 * 60.0 * 86_400.0) ** 0.5)
    (3180, 3220)
    >>> best_checkpoint_interval_s(60.0, 20.0)
    20.0
    """
    ratio = minimum(checkpoint_s / (2 * mtbf_s), 1.0)
    return where(
        checkpoint_s < 2 * mtbf_s,
        sqrt(2 * checkpoint_s * mtbf_s) * (1 + sqrt(ratio) / 3 + ratio / 9) - checkpoint_s,
        mtbf_s,
    )
