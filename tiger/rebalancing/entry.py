"""The entry of a run of intervals: a model, a cluster and times of layers in any form in, a report out."""

from tiger.errors import InputError
from tiger.model.options import from_fields, narrow
from tiger.rebalancing.follow import follow_times
from tiger.rebalancing.params import RebalanceCall, RebalanceOptions
from tiger.rebalancing.rebalancer import Rebalancer
from tiger.rebalancing.report import RebalanceReport
from tiger.rebalancing.times_file import read_times
from tiger.rebalancing.workloads.spec import trajectory_of


@from_fields(RebalanceCall)
def rebalance(call: RebalanceCall) -> RebalanceReport:
    """Follow the times of layers, from a file or of a simulated workload, and report the decision of each interval.

    Raises InputError that names the field at fault.
    """
    if (call.times is None) == (call.workload is None):
        got = "neither" if call.times is None else "both"
        raise InputError("times", f"expected one of --times and --workload, got {got}")
    rebalancer = Rebalancer(call.model, call.cluster, options=narrow(RebalanceOptions, call))
    layers = rebalancer.line.layers
    if call.times is not None:
        return follow_times(rebalancer, read_times(call.times, layers))
    return follow_times(rebalancer, list(trajectory_of(call.workload or "", layers)))
