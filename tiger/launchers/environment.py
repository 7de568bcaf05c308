"""The environment of every process of torch.distributed, as torchrun sets it.

Source: https://docs.pytorch.org/docs/stable/elastic/run.html, Environment Variables. torchrun numbers ranks host by
host; processes that are started with these variables have the ranks of the mapping, by `init_method="env://"`.
"""

from collections import Counter

from tiger.errors import InputError
from tiger.launchers.binding import list_variables, write_numbers
from tiger.launchers.order import FIELD, RankOrder, check_hosts
from tiger.launchers.shares import check_equal
from tiger.model.wording import describe

# The port that torchrun takes unless another is named.
PORT = 29500


def write(order: RankOrder) -> str:
    """Return `HOST NAME=VALUE ..` for every rank, with RANK, LOCAL_RANK and the other variables of torchrun.

    Local ranks go by slot. Where nodes are GPUs, the variable CUDA_VISIBLE_DEVICES has those of the host in that order,
    by the numbers that CUDA_DEVICE_ORDER makes those of nvidia-smi. What else a rank is bound to follows: the network
    card near its GPU, its threads, and the command that binds it to processors.
    Raises InputError of `emit` where hosts have different numbers of ranks, and where ranks share a GPU.
    """
    check_hosts(order)
    _check_devices(order)
    size = check_equal(order, "torchrun")
    local, visible = _number_locally(order)
    groups = {host: k for k, host in enumerate(dict.fromkeys(binding.host for binding in order.bindings))}
    lines = []
    for rank, binding in enumerate(order.bindings):
        variables = {
            "RANK": rank,
            "WORLD_SIZE": len(order.bindings),
            "LOCAL_RANK": local[rank],
            "LOCAL_WORLD_SIZE": size,
            "GROUP_RANK": groups[binding.host],
            "GROUP_WORLD_SIZE": len(groups),
            "MASTER_ADDR": order.bindings[0].host,
            "MASTER_PORT": PORT,
            **list_variables(binding),
            **visible.get(binding.host, {}),
        }
        words = [f"{name}={value}" for name, value in variables.items()]
        if binding.bound.cpus:
            words.append(f"taskset --cpu-list {write_numbers(sorted(binding.bound.cpus))}")
        lines.append(f"{binding.host} {' '.join(words)}\n")
    return "".join(lines)


def _check_devices(order: RankOrder) -> None:
    """Raise InputError of `emit` where ranks share a GPU: CUDA has no device for a list that repeats one."""
    uses = Counter((binding.host, binding.unit) for binding in order.bindings if binding.number("gpu") is not None)
    for (host, unit), count in uses.items():
        if count > 1:
            what = "expected one rank on each GPU for torchrun, as CUDA_VISIBLE_DEVICES may not repeat one"
            raise InputError(FIELD, f"{what}, got {count} on {describe(f'{host}/{unit}')}")


def _number_locally(order: RankOrder) -> tuple[list[int], dict[str, dict[str, str]]]:
    """Return the local rank of every rank, and the GPUs of every host whose ranks all have one."""
    local, devices = [0] * len(order.bindings), dict[str, list[int | None]]()
    for rank in order.launched:
        binding = order.bindings[rank]
        own = devices.setdefault(binding.host, [])
        local[rank] = len(own)
        own.append(binding.number("gpu"))
    known = {host: own for host, own in devices.items() if None not in own}
    return local, {
        host: {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(map(str, own))}
        for host, own in known.items()
    }


def describe_torchrun(_: RankOrder) -> str:
    """Return the command that takes a line."""
    return "for every line: ssh HOST env NAME=VALUE .. python PROGRAM"
