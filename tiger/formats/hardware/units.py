"""The units of a machine as which tasks may run."""

from typing import Literal

UnitName = Literal["core", "gpu", "nic"]
