"""The cases that a chapter on the memory of training compares, as rows of its tables."""

import numpy as np
import pandas as pd

from scaleright.formulas import lookup
from scaleright.ops import where
from scaleright.quantity import Quantity, evaluate
from scaleright.training.memory import LORA_RANK

MODELS = (
    "Llama-3.2-1B",
    "Llama-3.1-8B",
    "Llama-2-13B",
    "Qwen3-32B",
    "Llama-3.1-70B",
    "Mixtral-8x7B",
    "Llama-3.1-405B",
    "DeepSeek-V3",
)
CHIPS = ("RTX 4090", "A100 SXM 40GB", "H100 SXM", "H200 SXM", "B200", "MI300X", "MI355X")


@lookup
def ways_to_keep_states() -> pd.DataFrame:
    """What is trained, with which optimizer and task, on a chip that shares nothing.

    Columns: what is trained, optimizer, task, sharding, accelerators.
    """
    ways = {
        "all weights, AdamW": ("adamw", "pretrain"),
        "moments in BF16": ("adamw-bf16", "pretrain"),
        "moments in 8 bits": ("adamw-8bit", "pretrain"),
        "optimizer in the host's memory": ("offloaded", "pretrain"),
        f"adapters of rank {LORA_RANK} alone": ("adamw", "lora"),
    }
    rows = [(words, *way, "nothing", 1) for words, way in ways.items()]
    return pd.DataFrame(
        rows, columns=["what is trained", "optimizer", "task", "sharding", "accelerators"]
    )


@lookup
def models_by_chips() -> pd.DataFrame:
    """Each of `MODELS` on each of `CHIPS`.

    Columns: model, chip (to show); of, on (the same, to choose).
    """
    rows = [(model, chip, model, chip) for model in MODELS for chip in CHIPS]
    return pd.DataFrame(rows, columns=["model", "chip", "of", "on"])


@lookup
def on_few_chips(kept: Quantity, again: Quantity, room: float, verdict: str) -> pd.DataFrame:
    """Memory of each of one to eight chips for sequences of 2,048 tokens, and whether it fits.

    Parameters
    ----------
    kept, again : memory of a chip where no layer and where every layer is recomputed [B], by
        `accelerators` and `sequence`
    room : what a chip holds [B]
    verdict : name of the last column

    Columns: H100, everything kept, all recomputed [B], and the verdict.

    >>> from scaleright.quantity import given
    >>> each = given("sequence", 1.0) * 1e7 / given("accelerators", 1.0)
    >>> on_few_chips(each, each / 8, 6e9, "of 6 GB")["of 6 GB"].tolist()[1:]
    ['fits if every layer is recomputed', 'fits if every layer is recomputed', 'fits', 'fits']
    """
    some = where(again <= room, "fits if every layer is recomputed", "does not fit")
    chips = np.array([1, 2, 3, 4, 8])
    found = [kept, again, where(kept <= room, "fits", some)]
    found = evaluate(found, {"accelerators": chips, "sequence": 2048})
    words = "everything kept", "all recomputed", verdict
    return pd.DataFrame({"H100": chips, **dict(zip(words, found, strict=True))})
