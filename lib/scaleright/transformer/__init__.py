"""What a Transformer's shape implies: parameters, FLOPs and bytes.

Two tiers. *Counting* functions take a `Transformer` and return exact integers; its fields may be
arrays, so that a whole table is counted in one call. *Closed forms* take plain numbers, arrays or
quantities and so serve live charts; they start from the totals which the counting functions
deliver.
"""

from scaleright.architecture import stacked
from scaleright.transformer import published as _published  # registers its judge
from scaleright.transformer.decode import (
    DecodeStep,
    decode_intensity,
    decode_step,
    efficiency_ends,
)
from scaleright.transformer.flops import (
    ForwardFlop,
    attended_positions,
    compute_seconds,
    forward_flop,
    inference_flop,
    megatron_batch_flop,
    megatron_hardware_flop,
    memory_seconds,
    token_seconds,
    training_flop,
    training_flop_per_token,
)
from scaleright.transformer.memory import (
    BYTES_PER_PARAMETER,
    bytes_per_parameter,
    decode_bytes_per_step,
    experts_touched,
    kv_bytes_per_token,
    model_weight_bytes,
    sequence_kv_bytes,
    weight_bytes,
)
from scaleright.transformer.parameters import (
    Parameters,
    active_parameters,
    counts,
    matmul_parameters,
    parameters,
    rule_of_thumb_parameters,
)
from scaleright.transformer.rules import popular, rules_and_counts
