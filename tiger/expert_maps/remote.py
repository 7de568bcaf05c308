"""What a service is asked for a placement of experts: measured loads or transitions, and the cluster, as documents."""

from dataclasses import asdict, replace

from tiger.expert_maps.arguments import ExpertArguments
from tiger.expert_maps.loads_file import read_loads
from tiger.expert_maps.params import ExpertOptions, check_options
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.request import read_request
from tiger.expert_maps.traces import read_trace
from tiger.model.options import narrow
from tiger.run.use import RemoteCall
from tiger.training.documents import cluster_document
from tiger.training.hardware.options import HostArguments


def state_experts(arguments: ExpertArguments) -> RemoteCall[ExpertReport]:
    """State what `tiger.experts` answers for some arguments; files are read and all is checked here.

    The report has no transitions to draw. Raises InputError and TypeError as `tiger.experts` does.
    """
    options = check_options(narrow(ExpertOptions, arguments))
    hardware, cluster = cluster_document(arguments.cluster, narrow(HostArguments, arguments))
    source = (read_loads if options.kind == "loads" else read_trace)(arguments.trace)
    known = replace(arguments, trace=source, cluster=cluster, node_topology=None, bandwidths=None, labels=None)
    asked = read_request(known, options)
    in_use = None if asked.slots.in_use is None else asked.slots.in_use.tolist()
    document = {**asdict(options), "trace": source.tolist(), "cluster": hardware, "in_use": in_use}
    return RemoteCall(document, lambda report: report)
