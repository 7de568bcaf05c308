"""The Python entry of experts: choices of a router or loads and a cluster in, a map of experts and its price out."""

import time
from collections.abc import Callable

from tiger.expert_maps.account import report_answer
from tiger.expert_maps.arguments import ExpertArguments, ExpertCall
from tiger.expert_maps.params import ExpertOptions, check_options
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.request import read_request
from tiger.expert_maps.solve import solve_request
from tiger.model.options import from_fields, narrow
from tiger.run.progress import Progress, ignore


@from_fields(ExpertCall)
def experts(call: ExpertCall) -> ExpertReport:
    """Place the experts of every layer on the accelerators of a cluster so that a step with them costs little.

    The `trace` has the expert that each token chose in each layer, [tokens, layers], or the k that it chose, [tokens,
    layers, k], as an array or a file (`tiger.expert_maps.traces`); with the `kind` loads it is the tokens that go
    to each expert, [layers, experts], or [batches, layers, experts] of several batches, the newest last, of which each
    counts `decay` times as much as the next (`tiger.expert_maps.loads_file`). The cluster, and what is inside the hosts
    of a network, is what `place` takes. Every device gets as many of the `experts` of each layer and of the slots for
    `replicas`, at most `duplicates` of one expert; `groups` of experts stay on one machine.

    A step takes `token_s` seconds for each token of the largest load of each layer, and a transition of `token_bytes`
    to another device its time over the link, as a mean over devices. The map `in_use`, an array [layers, slots] or a
    file (`tiger.expert_maps.maps.formats`), is left for another one where that pays: experts of `expert_bytes`
    move, at most `most_moves`, for `steps` steps, and save at least `threshold` of a step. Without prices, transitions
    weigh by the bandwidths of links, and loads count tokens.

    Loads count over the speed of their device, as tokens of the fastest. Replicas of `expert_bytes` fit into the memory
    of devices less `reserved_bytes`; where that does not hold as many slots on each, small devices have fewer. With
    `slots_by` speed, slots are shared out in proportion to speed. What does not fit is a report that is not feasible.

    Of several batches the mean of the largest loads is made small. With balanced `sharing` the map is made for systems
    that solve for each batch how replicas share tokens, and for batches that may come after those given; the report
    then has `shares`.

    The last `held_out` tokens of a trace only test the placement. Same seed and effort, same answer; `time_limit_s`
    only ends a search early.
    Raises InputError that names the field at fault and TypeError for an argument of another type.
    """
    return report_experts(call, check_options(narrow(ExpertOptions, call)), call.progress or ignore)


def report_experts(
    arguments: ExpertArguments, options: ExpertOptions, watch: Callable[[Progress], None]
) -> ExpertReport:
    """Report what is found for arguments with checked options; raise InputError that names the field at fault."""
    begun = time.perf_counter()
    watch(Progress("reading", None, None))
    request = read_request(arguments, options)
    return report_answer(request, solve_request(request, watch), begun)
