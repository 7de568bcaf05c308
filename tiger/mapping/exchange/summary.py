"""What the command line says of a model that was written."""

from tiger.mapping.exchange.export import EncodedModel
from tiger.model.units import number_text as number
from tiger.run.summary import list_facts
from tiger.run.terminal import escape


def model_summary(model: EncodedModel, target: str) -> str:
    """Return what a model that was written holds, and how to read its variables."""
    slack = sum(task is None for task, _ in model.variables)
    size = len(model.variables)
    facts = {
        "variables": f"{size}, of which {slack} slack bits" if slack else str(size),
        "couplers": str(model.couplers),
        "offset": number(model.offset),
        "fingerprint": model.fingerprint,
    }
    if model.penalty is None:
        facts["constraints"] = str(model.constraints)
    else:
        facts["penalty"] = f"{number(model.penalty)}, {number(model.scale)} times the safe bound"
    if model.tuned_for is not None and model.feasible_share is not None:
        facts["  tuned"] = f"{model.feasible_share:.0%} of the reads of {escape(model.tuned_for)} are feasible"
    pairs = enumerate(model.variables[:2])
    order = [*(f"{k} is task {escape(str(task))} on node {escape(node)}" for k, (task, node) in pairs), ".."]
    return (
        f"wrote {escape(target)}\n\n{list_facts(facts)}\n"
        "a variable is 1 where its task is on its node, and they go by task, then node:\n"
        f"{'; '.join([*order, 'slack bits last'] if slack else order)}\n"
        "--variables FILE lists them all and lets `tiger decode`, which reads samples of them, check the problem\n"
    )
