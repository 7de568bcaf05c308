"""The arguments of `tiger.experts`, and of the client of a service that answers the same."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.expert_maps.params import ExpertOptions
from tiger.model.spelling import spelled
from tiger.run.options import WatchOptions
from tiger.training.arguments import CLUSTER, Hardware
from tiger.training.hardware.options import HostArguments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Source = Union["NDArray[np.generic]", Path, str]


@dataclass(frozen=True, eq=False)
class ExpertArguments(ExpertOptions, HostArguments):
    """Hold a trace or loads, a cluster, the map in use, and options."""

    trace: Source = field(
        metadata=spelled(
            "The expert of each token in each layer, [tokens, layers] in a .npy, .csv or .txt file; with "
            "--kind loads the tokens of each expert, [layers, experts] in a .npy, .csv or .json file, or those of "
            "several batches, the newest last, [batches, layers, experts] in .npy or .json.",
            name="source",
            metavar="INPUT",
            argument=True,
        )
    )
    cluster: Hardware = field(metadata={"spelling": CLUSTER})
    in_use: Source | None = field(
        default=None,
        metadata=spelled(
            "The map in use, as EPLB (.npz), vLLM, SGLang, vllm-ascend (.json) or ExFlow (.csv) has it.", metavar="FILE"
        ),
    )


@dataclass(frozen=True, eq=False)
class ExpertCall(WatchOptions, ExpertArguments):
    """Hold the arguments of `tiger.experts`."""
