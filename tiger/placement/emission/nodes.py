"""Which devices the ranks of a launch are, machine by machine."""

from tiger.model.wording import describe
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.ranges import ranges

VISIBLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"


def node_lines(deployment: Deployment) -> list[str]:
    """Return a comment for every machine, as launchers number them, and a warning where they cannot number them so.

    None on one machine whose devices are all taken in their order.
    """
    ranks = deployment.plan.grid.ravel()
    by_machine = deployment.ranks_by_machine(ranks)
    names, own = deployment.devices, deployment.cuda_indices
    if len(by_machine) == 1 and names == deployment.cluster.names[: len(names)]:
        return []
    warnings = deployment.warnings(ranks)
    lines = [f"# {warning}" for warning in warnings]
    for node, (machine, members) in enumerate(by_machine.items()):
        title = f"ranks {', '.join(ranges(members))}" if warnings else f"node rank {node}"
        indices = [own.get(int(ranks[rank])) for rank in members]
        visible = "" if None in indices else f", {VISIBLE}={','.join(map(str, indices))}"
        lines.append(f"# {title}: machine {machine} ({', '.join(describe(names[r]) for r in members)}){visible}")
    return lines


def order_lines(deployment: Deployment) -> list[str]:
    """Return the line that has CUDA number the devices of a machine as nvidia-smi does, where these differ.

    By itself CUDA has the fastest first. Source: environment variables in its C++ programming guide.
    """
    cluster, kinds = deployment.cluster, set[tuple[int, float, float]]()
    for device in deployment.cuda_indices:
        kinds.add((int(cluster.machine[device]), float(cluster.speed[device]), float(cluster.memory_bytes[device])))
    return [f"export {ORDER}=PCI_BUS_ID"] if len(kinds) > len({machine for machine, *_ in kinds}) else []
