"""The environment of every process of torch.distributed, as torchrun sets it.

Source: https://docs.pytorch.org/docs/stable/elastic/run.html, Environment Variables. torchrun numbers ranks host by
host; processes that are started with these variables have the ranks of the mapping, by `init_method="env://"`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from tiger.errors import InputError
from tiger.launchers.binding import list_variables, write_numbers
from tiger.launchers.order import FIELD, RankOrder, check_hosts
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
    counts = order.counts
    size = next(iter(counts.values()))
    for host, count in counts.items():
        if count != size:
            got = f"{size} on {describe(next(iter(counts)))} and {count} on {describe(host)}"
            what = "expected as many ranks on every host that has any for torchrun"
            raise InputError(FIELD, f"{what}, got {got}{_advise(order)}")
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


def check_shares(ranks: int, hosts: Mapping[str, int]) -> None:
    """Raise InputError of `emit` where no hosts, of which each has some slots, can take equal shares of the ranks."""
    slots = sorted(hosts.values(), reverse=True)
    free = sum(slots) - ranks
    # More ranks than slots are no bad input but a problem without a solution.
    if _find_share(ranks, slots) is None and free >= 0:
        got = f"{ranks} on {len(slots)} hosts of up to {slots[0]} slots; {free} slots are free"
        raise InputError(FIELD, f"expected a number of ranks that hosts can share equally for torchrun, got {got}")


def _find_share(ranks: int, slots: Sequence[int]) -> int | None:
    """Return the least number of hosts that can share ranks equally, of hosts with slots, the most first."""
    counts = range(1, len(slots) + 1)
    return next((count for count in counts if ranks % count == 0 and slots[count - 1] >= ranks // count), None)


def _advise(order: RankOrder) -> str:
    """Say how hosts get equal shares, where slots are stated and are those of hosts as a whole."""
    if not order.slots_given:
        return ""
    free, ranks = f"; {sum(order.free.values())} slots are free", len(order.bindings)
    count = _find_share(ranks, sorted(order.hosts.values(), reverse=True))
    if count is None or any(binding.unit is not None for binding in order.bindings):
        return free
    if len({*order.hosts.values()}) > 1:
        # Each host has its own number, which one for all cannot replace.
        return f"{free}, and {ranks // count} slots on {count} of the hosts make shares equal"
    return f"{free}, and --nodes {count} --slots {ranks // count} makes shares equal"


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
