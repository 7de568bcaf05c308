"""The commands `tiger encode` and `tiger decode`."""

import json
import os

from tiger.cli import console, options
from tiger.cli.console import INFEASIBLE, OK
from tiger.errors import InputError
from tiger.formats import outfile


def encode(
    tasks: options.Tasks,
    output: options.ModelFile,
    topology: options.Topology = None,
    rule: options.Rule = None,
    slots: options.Slots = None,
    imbalance: options.Imbalance = 0.0,
    allocation: options.Allocation = None,
    pin: options.Pin = None,
    forbid: options.Forbid = None,
    penalty_scale: options.PenaltyScale = None,
    capacity_encoding: options.CapacityEncoding = "slack",
    variables: options.Variables = None,
) -> int:
    """Write the model of a problem for other software.

    A .bqm file is the QUBO in dimod's format, .coo the same as text, .cqm a constrained model for hybrid solvers. Below
    a penalty scale of 1, the safe bound and the default, costs are centred. Exits as `tiger assign` does.
    """
    pins, bans = options.parse_pins(pin or []), options.parse_pairs(forbid or [])
    if variables is not None:
        outfile.check(variables, "variables")
        if os.path.realpath(variables) == os.path.realpath(output):
            raise InputError("variables", f"expected another file than --output, got {variables!r} for both")
    from tiger.cli.summary import describe_unmet, model_summary
    from tiger.exchange.export import Model, write_model
    from tiger.mapping.entry import problem_of
    from tiger.qubo.ising import IsingParams

    ising = IsingParams(penalty_scale=penalty_scale, capacity=capacity_encoding)
    problem = problem_of(
        tasks, topology, rule=rule, slots=slots, imbalance=imbalance, allocation=allocation, pinned=pins, forbidden=bans
    )
    model = write_model(problem, output, ising)
    if not isinstance(model, Model):
        console.emit(describe_unmet(model))
        return INFEASIBLE
    if variables is not None:
        outfile.write(variables, "variables", json.dumps(model.to_dict()) + "\n")
    console.emit(model_summary(model, output))
    return OK


def decode(
    tasks: options.Tasks,
    samples: options.Samples,
    topology: options.Topology = None,
    rule: options.Rule = None,
    slots: options.Slots = None,
    imbalance: options.Imbalance = 0.0,
    allocation: options.Allocation = None,
    pin: options.Pin = None,
    forbid: options.Forbid = None,
    variables: options.Encoded = None,
    json_file: options.Json = None,
) -> int:
    """Turn samples of an encoded problem into a mapping.

    The problem is stated as it was for `tiger encode`: samples of another are refused, and a warning says where nothing
    in them tells. Every sample is repaired and polished, and the best one is reported as `tiger assign` does.
    """
    pins, bans = options.parse_pins(pin or []), options.parse_pairs(forbid or [])
    console.check_report(json_file)
    from tiger.cli.summary import summary
    from tiger.exchange.decode_samples import decode_samples
    from tiger.exchange.sample_file import read_samples, read_variables
    from tiger.mapping.entry import problem_of

    problem = problem_of(
        tasks, topology, rule=rule, slots=slots, imbalance=imbalance, allocation=allocation, pinned=pins, forbidden=bans
    )
    rows = read_samples(samples)
    if variables is not None:
        rows = read_variables(variables, rows)
    with console.progress() as show:
        report = decode_samples(problem, rows, show)
    console.deliver(report, json_file, summary)
    return OK if report.feasible else INFEASIBLE
