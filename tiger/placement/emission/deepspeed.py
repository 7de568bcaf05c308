"""The split of DeepSpeed: the `parts` of a PipelineModule, and its layers."""

import json

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.nodes import node_lines
from tiger.placement.emission.reasons import comments
from tiger.placement.emission.schedules import replaces
from tiger.training.models.transformer import is_made_of_shape

PARTS, LAYERS, DEVICES = "parts", "layers", "devices"
SPECS = ("LayerSpec", "TiedLayerSpec")
TOPOLOGY = "PipeModelDataParallelTopology"
# PipelineModule takes no parts from its caller, so a subclass sets them as its own methods would.
MODULE = """
class PlacedPipelineModule(PipelineModule):
    def _partition_layers(self, method="placed"):
        self.parts = parts
        stage = self._topo.get_coord(self.global_rank).pipe
        self._set_bounds(start=parts[stage], stop=parts[stage + 1])
"""


def write(deployment: Deployment) -> str:
    """Return Python text: reasons as comments, `parts`, `layers` as LayerSpecs go, `devices` of ranks, and a subclass.

    Raises InputError of `emit` where positions have several stages.
    """
    deployment.check_plain("DeepSpeed")
    deployment.check_experts_at_home("DeepSpeed")
    plan, layers = deployment.plan, deployment.layers
    keys = {member: f"tied{k}" for k, group in enumerate(layers.tied) for member in group}
    specs = []
    for at, name in enumerate(layers.modules):
        spec = (SPECS[1], name, keys[at]) if at in keys else (SPECS[0], name)
        specs.append(f"    ({', '.join(map(_literal, spec))}),  # stage {deployment.stage_of(at)}")
    lines = [
        *comments(deployment),
        *node_lines(deployment),
        *_usage(deployment),
        "from deepspeed.pipe import PipelineModule",
        *([f"from deepspeed.runtime.pipe.topology import {TOPOLOGY}"] if plan.grid.shape[2] > 1 else []),
        "",
        f"{PARTS} = {list(plan.cuts)}",
        f"{DEVICES} = [{', '.join(map(_literal, deployment.devices))}]",
        f"{LAYERS} = [",
        *specs,
        "]",
        "",
    ]
    return "\n".join(lines) + MODULE


def _usage(deployment: Deployment) -> list[str]:
    """Return comments on how to use the text, and on a schedule that DeepSpeed does not run."""
    pipeline, data, tensor = deployment.plan.grid.shape
    shape = f"num_stages={pipeline}"
    if tensor > 1:
        shape = f"topology={TOPOLOGY}(num_pp={pipeline}, num_mp={tensor}, num_dp={data})"
    lines = [
        "# build your LayerSpecs in the order of layers, one for each, then instead of a PipelineModule",
        f"# PlacedPipelineModule(specs, {shape}, loss_fn=loss)",
    ]
    if replaces("deepspeed", deployment.schedule):
        lines.insert(0, f"# made for the schedule {deployment.schedule}, which DeepSpeed does not have: it runs 1F1B")
    if is_made_of_shape(deployment.layers):
        lines.append("# names of layers are the usual ones of a shape, and are read by nobody")
    return lines


def _literal(name: str) -> str:
    """Return a name as Python writes it; JSON's pairs of surrogates would be two letters there."""
    return json.dumps(name, ensure_ascii=False)
