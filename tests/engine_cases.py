"""Engines with which the tests of a server are made."""

from scaleright import catalog
from scaleright.inference.deployment import Deployment

LLAMA = Deployment(
    catalog.model("Llama-3.1-70B"),
    catalog.accelerator("H100 SXM"),
    "FP8",
    tensor=4,
    software="vLLM 0.17.0",
)
DEEPSEEK = Deployment(
    catalog.model("DeepSeek-V3"),
    catalog.accelerator("H200 SXM"),
    "FP8",
    tensor=8,
    software="vLLM 0.17.0",
)
