"""The types of numbers that models are computed in."""

from typing import Literal

Precision = Literal["fp8", "bf16", "fp16", "fp32"]
