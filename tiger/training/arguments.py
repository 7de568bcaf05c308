"""Models and clusters as callers state them, and how the command line spells them.

What computes is named here and loaded where it is used, so that help does not wait for arrays.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.model.spelling import Spelling

if TYPE_CHECKING:
    from tiger.training.hardware.cluster import Cluster
    from tiger.training.models.layers import Layers
    from tiger.training.models.operators import Operators

Model = Union["Layers", "Operators", Path, str, Mapping[str, object], list[object]]
Hardware = Union["Cluster", Path, str, Mapping[str, object]]
MODEL = Spelling(
    "A name such as llama-3-70b, a config.json, a .gguf, a table .csv or .json, a PipeDream graph .txt, or a SPEC.",
    metavar="MODEL",
    complete="models",
    argument=True,
)
CLUSTER = Spelling(
    "Like dgx:2; or a file: JSON of devices and links, what `nvidia-smi topo -m` prints, or a network of hosts.",
    panel="Hardware",
    metavar="SPEC|FILE",
    complete="topologies",
)
