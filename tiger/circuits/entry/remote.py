"""What a service is asked for a circuit, which goes as OpenQASM."""

from dataclasses import asdict, replace

from tiger.circuits.entry.arguments import LayoutArguments
from tiger.circuits.entry.documents import circuit_text, device_document, layout_list
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.params import LayoutOptions
from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import narrow
from tiger.run.use import REFUSED, RemoteCall, solver_name


def state_layout(arguments: LayoutArguments) -> RemoteCall[CircuitReport]:
    """State what `tiger.layout` answers for some arguments; files are read here, and circuits written as OpenQASM.

    Raises InputError and TypeError as `tiger.layout` does for what cannot be read, and InputError for what no service
    takes: several `threads`, an executor.
    """
    if arguments.threads != 1:
        raise InputError("threads", f"{REFUSED}, got {arguments.threads}")
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    options = narrow(LayoutOptions, arguments)
    check_values(options)
    document = {
        **asdict(options),
        "solver": solver_name(options.solver),
        "circuit": circuit_text(arguments.circuit),
        "topology": device_document(arguments.coupling),
        "initial_layout": layout_list(arguments.initial_layout),
    }
    return RemoteCall(document, lambda report: replace(report, device=arguments.coupling))
