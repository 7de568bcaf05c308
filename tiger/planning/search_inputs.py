"""What a search for a plan is asked."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple, TypeVar

from tiger.planning.attempt import Attempt, KnownCuts
from tiger.planning.choices import Choice
from tiger.planning.params import PlanParams
from tiger.run.island_call import IslandCall
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.setup import CHOSEN
from tiger.training.models.sizes import Model

Judged = TypeVar("Judged")


class SearchInputs(NamedTuple):
    """Hold a model, a cluster, what is asked, who judges the choices of several islands, and plans that there are.

    `given` is the plan that somebody has, `starts` are plans for another batch, and `cuts` those known from that.
    """

    model: Model
    cluster: Cluster
    params: PlanParams
    executor: Executor | None = None
    given: Choice | None = None
    starts: tuple[Attempt, ...] = ()
    cuts: KnownCuts | None = None

    def layers(self, choice: Choice) -> Layers:
        """Return the layers of a microbatch of a choice, as its ranks hold them."""
        return self.model.layers(choice.family.microbatch, choice.family.setup(self.params))

    def covers(self, choice: Choice) -> bool:
        """Return whether a choice keeps to what is asked of all plans."""
        own = {name: getattr(choice, name) for name in ("pipeline", "schedule", "virtual")}
        own |= {name: getattr(choice.family, name) for name in ("microbatch", *CHOSEN)}
        return all(getattr(self.params, name) in (None, value) for name, value in own.items())

    def run(self, judge: Callable[..., Judged], *given: Sequence[object]) -> Iterable[Judged]:
        """Return what `judge` makes of what each island is given, on the executor if there are several."""
        judge_here = IslandCall(judge, self.cluster)
        return (self.executor.map if self.executor and self.params.islands > 1 else map)(judge_here, *given)
