"""The cases that every chapter and command is asked that can answer.

Dense models and mixtures of experts, small and large; chips of all makers and ages; requests short
and long; light and heavy loads; training runs on few chips and on thousands.
"""

from typing import NamedTuple

from chapter_cells import BOOK
from scaleright.press.texts import SAY, chapter_notebook, declared

TOKENS_PER_DAY = 1e9
"""Demand for which a fleet is sized [token/day]."""
REQUESTS = {
    "chat": (2000, 500, 0.0),
    "1K/1K": (1024, 1024, 0.0),
    "document": (30000, 300, 0.0),
    "reasoning": (1000, 8000, 0.0),
    "agent": (8000, 400, 0.8),
}
"""Tokens of a prompt and of an answer, and share of the prompt found in a cache."""


class Serving(NamedTuple):
    """A model served on a kind of chip.

    request : one of `REQUESTS`
    pace : tokens a second for each reader [token/s]
    load : tokens served over those that the paid hours could serve [1]
    paid : a contract, or "own"
    form : of the weights
    """

    model: str
    chip: str
    request: str
    pace: float
    load: float
    paid: str
    form: str = "usual"


class Metered(NamedTuple):
    """A model whose energy was measured on a chip, with about so many sequences together.

    form : of the weights, as it is asked for
    run : that of the run which is meant; empty where there is none
    """

    model: str
    chip: str
    batch: int
    form: str
    run: str


class Training(NamedTuple):
    """A run of a model on so many chips, in steps of so many tokens, in a format."""

    model: str
    chip: str
    chips: int
    batch: str
    form: str


class Powered(NamedTuple):
    """A chip of one's own that stands somewhere and does something.

    setting : where it is to stand
    work : "training" or "serving"
    load : share of the time at work [1]
    """

    chip: str
    setting: str
    work: str
    load: float


SERVING = [
    Serving("Llama-3.3-70B", "A100 SXM 80GB", "chat", 30.0, 0.4, "on demand"),
    Serving("Llama-3.3-70B", "H100 SXM", "chat", 30.0, 0.4, "on demand"),
    Serving("Llama-3.3-70B", "H200 SXM", "chat", 30.0, 0.4, "reserved"),
    Serving("Llama-3.3-70B", "B200", "1K/1K", 50.0, 0.4, "on demand"),
    Serving("Llama-3.3-70B", "MI300X", "chat", 30.0, 0.4, "on demand"),
    Serving("Llama-3.3-70B", "H100 SXM", "chat", 30.0, 0.4, "own"),
    Serving("Llama-3.1-8B", "L40S", "chat", 30.0, 0.05, "on demand"),
    Serving("Llama-3.1-8B", "RTX PRO 6000", "agent", 60.0, 0.2, "on demand"),
    Serving("Llama-3.1-8B", "H100 SXM", "1K/1K", 100.0, 1.0, "on demand"),
    Serving("Llama-3.1-8B", "L40S", "document", 10.0, 0.9, "own"),
    Serving("Mistral-NeMo-12B", "A100 SXM 80GB", "reasoning", 20.0, 0.6, "three years"),
    Serving("Gemma-3-27B", "H200 SXM", "document", 15.0, 0.3, "on demand"),
    Serving("Qwen3-32B", "H200 SXM", "chat", 20.0, 0.4, "on demand"),
    Serving("Qwen3-32B", "B300", "reasoning", 50.0, 0.5, "own"),
    Serving("Llama-3.1-405B", "H200 SXM", "chat", 20.0, 0.4, "on demand"),
    Serving("Llama-3.1-405B", "GB300", "1K/1K", 50.0, 0.4, "on demand"),
    Serving("Llama-3.1-405B", "H100 SXM", "chat", 120.0, 0.4, "on demand"),  # none so fast
    Serving("gpt-oss-120b", "B200", "1K/1K", 100.0, 0.4, "on demand"),
    Serving("gpt-oss-120b", "H200 SXM", "1K/1K", 50.0, 0.4, "on demand"),
    Serving("gpt-oss-120b", "MI300X", "chat", 30.0, 0.4, "spot"),
    Serving("gpt-oss-120b", "MI300X", "chat", 30.0, 0.4, "one year"),
    Serving("gpt-oss-120b", "MI325X", "chat", 30.0, 0.4, "spot"),  # nobody sells it so
    Serving("gpt-oss-20b", "RTX 5090", "agent", 100.0, 0.1, "on demand"),
    Serving("Qwen3-30B-A3B-Instruct-2507", "H100 SXM", "agent", 80.0, 0.7, "on demand"),
    Serving("Qwen3-235B-A22B-Instruct-2507", "MI325X", "reasoning", 25.0, 0.4, "own"),
    Serving("Llama-4-Scout", "L40S", "chat", 10.0, 0.4, "on demand"),
    Serving("Llama-4-Maverick", "B200", "document", 40.0, 0.4, "on demand"),
    Serving("DeepSeek-V3.1", "H200 SXM", "1K/1K", 20.0, 0.4, "on demand"),
    Serving("DeepSeek-R1-0528", "B300", "reasoning", 30.0, 0.7, "spot"),
    Serving("DeepSeek-R1-0528", "GB300", "1K/1K", 50.0, 0.4, "on demand"),
    Serving("MiniMax-M2.5", "MI300X", "agent", 30.0, 0.4, "own"),
    Serving("Kimi-K2.5", "L40S", "chat", 30.0, 0.4, "on demand"),  # no node holds it
    Serving("Llama-3.3-70B", "A100 SXM 80GB", "chat", 30.0, 0.4, "on demand", "INT4"),
    Serving("Llama-3.3-70B", "A100 SXM 80GB", "chat", 30.0, 0.4, "on demand", "INT8"),
    Serving("Llama-3.3-70B", "B200", "chat", 30.0, 0.4, "on demand", "FP8"),
    Serving("Llama-3.1-8B", "H100 SXM", "1K/1K", 50.0, 0.4, "on demand", "BF16"),
    Serving("Qwen3-30B-A3B-Instruct-2507", "B200", "chat", 80.0, 0.7, "own", "BF16"),
    Serving("DeepSeek-V3.1", "H200 SXM", "1K/1K", 20.0, 0.4, "on demand", "INT4"),
    Serving("DeepSeek-R1-0528", "B200", "1K/1K", 20.0, 0.4, "on demand", "FP8"),
    Serving("Llama-3.3-70B", "H100 SXM", "chat", 30.0, 0.4, "on demand", "NVFP4"),  # not there
    Serving("Llama-3.1-405B", "H200 SXM", "1K/1K", 20.0, 0.4, "reserved", "FP8"),
    Serving("DeepSeek-R1-0528", "B200", "chat", 20.0, 0.5, "spot", "NVFP4"),
]
METERED = [
    Metered("Llama-3.1-70B", "H100 SXM", 64, "usual", "BF16"),  # nobody measured FP8
    Metered("Llama-3.1-405B", "B200", 128, "BF16", "BF16"),
    Metered("Llama-3.1-405B", "B200", 128, "FP8", "FP8"),
    Metered("Llama-3.1-405B", "B200", 128, "usual", "FP8"),  # next to NVFP4
    Metered("Qwen3-235B-A22B", "H100 SXM", 32, "BF16", "BF16"),
    Metered("Qwen3-235B-A22B", "H100 SXM", 32, "usual", "FP8"),
    Metered("Qwen3-8B", "B200", 256, "MXFP4", ""),
]
TRAINING = [
    Training("Llama-2-7B", "H100 SXM", 256, "4M", "BF16"),
    Training("Llama-2-7B", "A100 SXM 80GB", 128, "4M", "BF16"),
    Training("Llama-3.1-8B", "B200", 64, "4M", "FP8"),
    Training("Llama-3.1-8B", "H100 SXM", 1024, "16M", "BF16"),
    Training("Llama-3.1-8B", "MI325X", 256, "4M", "BF16"),
    Training("Qwen3-32B", "H200 SXM", 512, "4M", "FP8"),
    Training("Qwen3-32B", "GB300", 64, "16M", "BF16"),
    Training("Llama-3.1-70B", "H100 SXM", 256, "4M", "BF16"),
    Training("Llama-3.1-70B", "GB300", 512, "16M", "FP8"),
    Training("Llama-3.1-70B", "MI300X", 256, "4M", "BF16"),
    Training("Llama-3.1-70B", "MI350X", 512, "4M", "FP8"),
    Training("Llama-3.1-405B", "H100 SXM", 16_384, "16M", "BF16"),
    Training("Llama-3.1-405B", "B200", 2048, "16M", "FP8"),
    Training("Mixtral-8x7B", "H100 SXM", 256, "4M", "BF16"),
    Training("Mixtral-8x7B", "B300", 128, "4M", "FP8"),
    Training("DeepSeek-V3", "H200 SXM", 2048, "16M", "FP8"),
]
POWERED = [
    Powered("H100 SXM", "data center", "serving", 0.4),
    Powered("H100 SXM", "data center", "training", 1.0),
    Powered("H100 SXM", "colocation", "serving", 1.0),
    Powered("H100 SXM", "home", "serving", 0.4),  # stands in a data center
    Powered("H200 SXM", "data center", "training", 1.0),
    Powered("A100 SXM 80GB", "data center", "training", 0.9),
    Powered("A100 SXM 80GB", "data center", "serving", 0.2),
    Powered("B200", "data center", "serving", 0.6),
    Powered("B200", "data center", "training", 1.0),
    Powered("B300", "colocation", "serving", 0.05),
    Powered("GB300", "data center", "training", 1.0),
    Powered("MI300X", "data center", "serving", 0.4),
    Powered("MI300X", "data center", "training", 1.0),
    Powered("L40S", "data center", "serving", 0.4),
    Powered("L40S", "colocation", "serving", 0.0),  # vacant
    Powered("L4", "data center", "serving", 0.4),
    Powered("RTX 5090", "home", "serving", 0.1),
    Powered("RTX 5090", "data center", "serving", 0.5),
    Powered("RTX PRO 6000", "home", "serving", 0.3),
    Powered("TPU v4", "data center", "training", 0.9),
]


class Paid(NamedTuple):
    """An hour of a chip under a contract from a seller."""

    chip: str
    contract: str
    seller: str


PAID = [
    Paid("H100 SXM", "on demand", "median"),
    Paid("H100 SXM", "reserved", "median"),
    Paid("H100 SXM", "three years", "hyperscalers"),
    Paid("H100 SXM", "one year", "Google Cloud"),
    Paid("H200 SXM", "spot", "CoreWeave"),
    Paid("H200 SXM", "one year", "median"),  # on demand, discounted
    Paid("H200 SXM", "spot", "Lambda"),  # nobody sells it so
    Paid("B200", "on demand", "cheapest quarter"),
    Paid("B200", "reserved", "median"),
    Paid("A100 SXM 80GB", "three years", "AWS"),
    Paid("MI300X", "spot", "Microsoft Azure"),
    Paid("MI300X", "reserved", "median"),  # discounted as well
    Paid("GB300", "on demand", "hyperscalers"),
]


def choices(chapter: str) -> dict[str, tuple]:
    """What the parameters of a chapter offer."""
    return {parameter.name: tuple(parameter.choices) for parameter in declared(chapter, BOOK)}


def page_text(chapter: str) -> str:
    """The prose of a chapter, its sentences of quantities with it."""
    found = chapter_notebook(BOOK.text(chapter)).cells
    prose = (of for of in found if of.cell_type == "markdown" or of.source.startswith(SAY))
    return "\n".join(of.source for of in prose)
