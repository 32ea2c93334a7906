"""What a step waits for: the busiest of some groups, the slowest of some processes."""

from __future__ import annotations

from scaleright.formulas import COUNT, NON_NEGATIVE, closed_form
from scaleright.ops import log, maximum, minimum, sqrt, where

SUM_KERNELS = 2
"""Launches of a sum over ranks outside a graph: the copy to where peers read, and the sum."""


@closed_form(mean_tokens=NON_NEGATIVE, length=NON_NEGATIVE, groups=COUNT, chunk_tokens=COUNT)
def busiest_prompt(mean_tokens, length, groups, chunk_tokens):
    """Tokens of prompts on the busiest of the attention groups that wait for each other at the
    experts, in one micro-batch [token].

    Prompts are not cut over groups and fall on them at random: of r groups with n prompts each in
    the mean, the busiest has about n + sqrt(2 n ln r), at most all of them or a full step.

    mean_tokens : of a group [token]; length : of a prompt [token]; groups : that wait for each
        other, 1 where none do [1]
    chunk_tokens : most tokens of a step [token]

    >>> busiest_prompt(500.0, 2000.0, 1, 8192), round(busiest_prompt(500.0, 2000.0, 8, 8192))
    (500.0, 2539)
    """
    most = minimum(mean_tokens * groups, maximum(chunk_tokens, mean_tokens))
    return minimum(mean_tokens + sqrt(2 * log(groups) * mean_tokens * length), most)


@closed_form(kernels=NON_NEGATIVE, ranks=COUNT)
def waited_kernels(kernels, ranks):
    """Kernels of a layer whose launches take as long as those of the slowest of some processes,
    where each launches them one by one outside a graph [1].

    A layer has two sums over its ranks, each of two kernels (a copy to where peers read, the sum),
    and each ends when the slowest process has launched what is before it, half of the kernels. The
    time of a launch varies as much as it takes (as waits for an interpreter and its locks do, an
    exponential distribution), so that n / 2 of them vary by sqrt(n / 2) launches; the slowest of r
    processes is about 0.75 ln r of that above the mean.

    kernels : of a layer without its sums [1]; ranks : chips that share it [1]

    Source: derived, without a fitted constant. The bias of runs of the first engine of vLLM on 1,
    2, 4 and 8 A100s was -2, +11, +24 and +34 % without, and is +3, 0, +13 and +9 % [mlenergy2024].

    >>> waited_kernels(10.0, 1), round(waited_kernels(10.0, 8), 1)
    (10.0, 22.3)
    """
    summed = kernels + where(ranks > 1, 2 * SUM_KERNELS, 0)
    return summed + 2 * sqrt(summed / 2) * 0.75 * log(ranks)
