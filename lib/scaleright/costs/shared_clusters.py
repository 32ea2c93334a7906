"""Waiting for chips of a cluster that others use as well."""

from scaleright.formulas import COUNT, NON_NEGATIVE, Domain, closed_form
from scaleright.ops import floor, maximum, sqrt


@closed_form(
    chips=COUNT,
    shared_chips=COUNT,
    load=Domain(0.0, 0.99, (0.01, 0.95)),
    job_days=NON_NEGATIVE,
)
def waiting_days(chips, shared_chips, load, job_days):
    """Days that a job waits on average until so many chips of a shared cluster are free [d].

    The cluster is taken for as many servers as jobs of this size fit on it, whose jobs arrive at
    random and take times that vary as those of a memoryless one: the larger the job, the fewer
    servers, and the longer the queue at the same load.

    Parameters
    ----------
    chips : of the job; a job larger than the cluster waits as one that takes all of it
    shared_chips : of the cluster
    load : share of the cluster that is busy [1]; 0 is no queue
    job_days : mean time for which a job holds its chips [d]

    Source: [sakasegawa1977], W = S rho^(sqrt(2(c + 1)) - 1) / (c (1 - rho)), exact for one server.

    >>> waiting_days(1024, 1024, 0.5, 3.0), round(waiting_days(64, 1024, 0.5, 3.0), 4)
    (3.0, 0.0132)
    >>> waiting_days(64, 1024, 0.0, 3.0)
    0.0
    """
    servers = maximum(floor(shared_chips / chips), 1.0)
    return job_days * load ** (sqrt(2 * (servers + 1)) - 1) / (servers * (1 - load))
