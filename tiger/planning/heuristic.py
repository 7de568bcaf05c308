"""The plan that people write by hand."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tiger.planning.attempt import Attempt, simulate_even_plan
from tiger.planning.choices import Choice, Family, families, schedules_of
from tiger.planning.params import PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model


def usual_plan(model: Model, cluster: Cluster, params: PlanParams) -> Attempt | None:
    """Return the usual plan, with the best size of microbatches for it; None where it does not fit.

    Layers are cut inside a machine as far as heads divide, the pipeline across machines is just deep enough to fit
    with the least microbatch, what is left are replicas, which share out the states of the optimizer; as many layers in
    every stage, devices in order, 1F1B. Layers are computed again only where nothing fits without that. What `params`
    state is kept to. Source: Narayanan et al., SC 2021, arXiv:2104.04473, takeaways 1 and 2.
    """
    for choice in _choices(model, cluster, params):
        if _evaluate(model, cluster, choice, params) is not None:
            resized = (_resize(choice, family) for family in families(model, cluster, params))
            found = [_evaluate(model, cluster, each, params) for each in resized if each is not None]
            return min((each for each in found if each is not None), key=lambda each: each.iteration_s)
    return None


def _choices(model: Model, cluster: Cluster, params: PlanParams) -> Iterator[Choice]:
    """Yield choices that use all devices with the most ranks a layer inside a machine, shallow pipelines first."""
    machines = np.unique(cluster.machine, return_counts=True)[1]
    known = list(families(model, cluster, params))
    inside = [each.tensor for each in known if each.tensor <= machines.min() and not cluster.size % each.tensor]
    if not known:
        return
    tensor = max(inside, default=known[0].tensor)
    least = min(each.microbatch for each in known)
    wanted = params if params.schedule else replace(params, schedule="1f1b")
    usual = [each for each in known if each.tensor == tensor and _is_usual(model, each, params)]
    for family in sorted(usual, key=lambda each: (each.recompute != "none", -each.data)):
        depth, rest = divmod(cluster.size, tensor * family.copies)
        allowed = params.pipeline in (None, depth)
        if family.microbatch == least and not rest and allowed:
            yield from list(schedules_of(model, wanted, family, depth))[:1]


def _is_usual(model: Model, family: Family, params: PlanParams) -> bool:
    """Return whether a family shares out and cuts what is usual, or what is stated."""
    usual = Family(
        tensor=family.tensor,
        data=family.data,
        microbatch=family.microbatch,
        microbatches=family.microbatches,
        context=params.context or 1,
        expert=params.expert or family.expert,
        sharding=params.sharding or ("zero-1" if model.resizable and family.copies > 1 else "none"),
        recompute=family.recompute,
        recompute_layers=family.recompute_layers,
    )
    return family == usual


def _resize(choice: Choice, family: Family) -> Choice | None:
    """Return the choice with the microbatches of another family, None where that differs in more."""
    own = choice.family
    same = family == replace(own, microbatch=family.microbatch, microbatches=family.microbatches)
    resized = replace(choice, family=family)
    return resized if same and resized.runs else None


def _evaluate(model: Model, cluster: Cluster, choice: Choice, params: PlanParams) -> Attempt | None:
    """Return what the even plan of a choice comes to, None where it does not fit."""
    layers = model.layers(choice.family.microbatch, choice.family.setup(params))
    attempt = simulate_even_plan(layers, cluster, choice)
    return attempt if attempt.iteration_s < np.inf else None
