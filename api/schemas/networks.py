"""What models and clusters look like in the documentation of requests; they are checked where they are read."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tiger.api.schemas.files import FileBody
from tiger.training.hardware.cluster import DeviceKind
from tiger.training.models.layers import LayerKind
from tiger.training.models.shape import Attention
from tiger.training.models.weights import CacheType, Weights
from tiger.training.precision import Precision

# Bytes, bytes/s or seconds as a number, or with a unit as text.
Quantity = float | str
Count = Annotated[int, Field(ge=1)]
# As dnn-partitioning writes truth values.
Flag = bool | Annotated[int, Field(ge=0, le=1)]
Number = int | str
Names = list[list[str]]


class Layer(TypedDict):
    """Describe a layer; times are seconds of one microbatch."""

    name: str
    forward_s: Quantity
    backward_s: Quantity
    parameter_bytes: Quantity
    activation_bytes: Quantity
    weight_s: NotRequired[Quantity]
    gradient_bytes: NotRequired[Quantity]
    state_bytes: NotRequired[Quantity]
    held_bytes: NotRequired[Quantity]
    reduced_bytes: NotRequired[Quantity]
    reductions: NotRequired[float]
    kind: NotRequired[LayerKind]
    module: NotRequired[str]


class LayerTable(TypedDict):
    """Describe the layers of a model, with edges other than from one to the next, and groups that share parameters."""

    layers: list[Layer]
    edges: NotRequired[Names]
    tied: NotRequired[Names]
    scattered: NotRequired[bool]
    slices: NotRequired[Annotated[int, Field(ge=0)]]


class TransformerShape(TypedDict):
    """Describe the numbers of a transformer, as `tiger.training.models.shape.Shape` has them."""

    layers: Count
    hidden: Count
    heads: Count
    vocabulary: Count
    sequence: Count
    batch: NotRequired[Count]
    ffn: NotRequired[Count]
    kv_heads: NotRequired[Count]
    head_dim: NotRequired[Count]
    experts: NotRequired[Count]
    top_k: NotRequired[Count]
    gated: NotRequired[bool]
    tied: NotRequired[bool]
    biases: NotRequired[bool]
    kv_lora_rank: NotRequired[Count]
    q_lora_rank: NotRequired[Count]
    rope_head_dim: NotRequired[Count]
    v_head_dim: NotRequired[Count]
    window: NotRequired[Count]
    full_step: NotRequired[Count]
    dense_layers: NotRequired[int]
    dense_ffn: NotRequired[Count]
    expert_step: NotRequired[Count]
    shared_experts: NotRequired[int]
    mtp_layers: NotRequired[int]
    dtype: NotRequired[Precision]
    attention: NotRequired[Attention]
    serve: NotRequired[bool]
    weights: NotRequired[Weights]
    kv: NotRequired[CacheType]
    flops: NotRequired[float]


class Transformer(TypedDict):
    """Describe a transformer by its shape."""

    transformer: TransformerShape


class PipeDreamProfile(TypedDict):
    """Describe a PipeDream profile by its text."""

    graph: str


class DnnPartitioningNode(TypedDict):
    """Describe an operator as dnn-partitioning does; latencies are in ms."""

    id: Number
    supportedOnFpga: Flag
    cpuLatency: float
    fpgaLatency: float
    isBackwardNode: Flag
    name: NotRequired[str]
    colorClass: NotRequired[Number]
    size: NotRequired[float]
    layerId: NotRequired[Number]


class DnnPartitioningEdge(TypedDict):
    """Describe what one operator sends another as dnn-partitioning does; the cost is in ms."""

    sourceId: Number
    destId: Number
    cost: float
    size: NotRequired[float]


class DnnPartitioningGraph(TypedDict):
    """Describe operators and devices as dnn-partitioning does."""

    nodes: list[DnnPartitioningNode]
    edges: list[DnnPartitioningEdge]
    maxFPGAs: NotRequired[int]
    maxSizePerFPGA: NotRequired[float]
    maxCPUs: NotRequired[int]


class Operator(TypedDict):
    """Describe an operator."""

    name: str
    seconds: Quantity
    cpu_seconds: NotRequired[Quantity]
    memory_bytes: NotRequired[Quantity]
    output_bytes: NotRequired[Quantity]
    output_seconds: NotRequired[Quantity]
    colocate: NotRequired[Number]
    backward: NotRequired[Flag]
    accelerator: NotRequired[Flag]


class OperatorTable(TypedDict):
    """Describe operators, and which sends to which."""

    operators: list[Operator]
    edges: Names


Model = LayerTable | Transformer | PipeDreamProfile | list[Layer] | DnnPartitioningGraph | OperatorTable | FileBody


class MeasuredText(TypedDict):
    """Describe measured times by the text of a CSV file, and which of its rows to take."""

    csv: str
    where: NotRequired[dict[str, object]]


class MeasuredRun(TypedDict):
    """Describe the measured times of a collective by the text that nccl-tests print."""

    nccl_tests: str
    nics: NotRequired[Count]


# Pairs of bytes and seconds, a table, or a collective.
Measured = list[list[Quantity]] | MeasuredText | MeasuredRun


class Network(TypedDict):
    """Describe what a connection carries, by bandwidth and latency or by measured times."""

    bandwidth: NotRequired[Quantity]
    latency: NotRequired[Quantity]
    table: NotRequired[Measured]


Networks = dict[str, Network]


class DeviceOptions(TypedDict):
    """Hold what may be said of a device."""

    kind: NotRequired[DeviceKind]
    type: NotRequired[str]
    flops: NotRequired[float]
    memory_bandwidth: NotRequired[Quantity]
    memory_bytes: NotRequired[Quantity]
    speed: NotRequired[float]


class Device(DeviceOptions):
    """Describe a device."""

    name: str
    machine: NotRequired[str]


class DeviceLink(Network):
    """Describe the connection of two devices."""

    a: str
    b: str
    wire: NotRequired[bool]


class DeviceTable(TypedDict):
    """Describe devices one by one, with links or what every two of them have between them."""

    devices: list[Device]
    uniform_bandwidth: NotRequired[Quantity]
    uniform_latency: NotRequired[Quantity]
    uniform_table: NotRequired[Measured]
    links: NotRequired[list[DeviceLink]]
    nics: NotRequired[dict[str, Count]]
    in_switch_reduction: NotRequired[dict[str, bool | float]]


class MachineInside(DeviceOptions, Network):
    """Describe what is inside a machine."""

    devices: NotRequired[Count]
    lanes: NotRequired[list[list[int]]]
    lane_bandwidth: NotRequired[Quantity]
    lane_latency: NotRequired[Quantity]
    nvidia_smi_topo: NotRequired[str]
    nccl_topo: NotRequired[str]
    classes: NotRequired[Networks]
    nics: NotRequired[Count]
    in_switch_reduction: NotRequired[bool | float]


class Machine(MachineInside):
    """Describe a group of equal machines."""

    count: NotRequired[Count]
    nic: NotRequired[str]


class MachineTable(TypedDict):
    """Describe machines by groups, and the networks between them."""

    machines: list[Machine]
    nics: NotRequired[Networks]
    fallback: NotRequired[str]


Inside = MachineInside | str | DeviceTable | MachineTable | FileBody


class HostsInside(TypedDict):
    """Describe what is inside some hosts."""

    hosts: NotRequired[str]
    machine: NotRequired[Inside]


class HostTable(TypedDict):
    """Describe hosts by a file of their network, and what is inside all of them, or inside those listed."""

    hosts: FileBody
    machine: Inside | list[HostsInside]
    networks: NotRequired[list[Network] | Networks]
    labels: NotRequired[list[str]]


class NvidiaMachine(DeviceOptions):
    """Describe a machine by what `nvidia-smi topo -m` prints."""

    nvidia_smi_topo: str
    classes: NotRequired[Networks]


class NcclMachine(DeviceOptions):
    """Describe a machine by what NCCL dumps."""

    nccl_topo: str
    classes: NotRequired[Networks]


class MeasuredMachine(DeviceOptions):
    """Describe a machine by what nccl-tests print."""

    nccl_tests: str


Cluster = DeviceTable | MachineTable | HostTable | NvidiaMachine | NcclMachine | MeasuredMachine | FileBody
