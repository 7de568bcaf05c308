"""What the stages of a circuit's mapping hand on, and what all of them reached."""

from dataclasses import dataclass, field

from tiger.routing.embedding.segments import Anchor
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.prices import price_route
from tiger.run.answers import Answers
from tiger.run.deadline import Deadline
from tiger.run.incumbent import Incumbent
from tiger.run.stage import Stage


@dataclass(kw_only=True)
class RouteIncumbent(Incumbent[Route]):
    """Hold the best route of a circuit and its extra CX gates; also all routes known, and mappings to route from.

    `of_islands` are the routes that the search on whole routes found, one on every island. The first solution is a
    placeholder without gates. The search ends at a route with as many extra CX gates as `bound`, which is 0 where
    another objective wants to choose among routes.
    """

    dag: GateDag
    stop: Deadline
    bound: float | None = 0.0
    routes: list[Route] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    of_islands: list[Route] = field(default_factory=list)

    def add(self, route: Route) -> int:
        """Note a route, and take it as the best if it is; return its extra CX gates."""
        self.routes.append(route)
        self.take(route, 3 * price_route(self.dag, route) / int(self.dag.price[-1]))
        return route.extra_cx


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """Hold the best route, and what every stage reached: its cost is in extra CX gates.

    No route has fewer than `lower_bound` extra CX gates. `answers` are those of the sampler.
    """

    route: Route
    lower_bound: int = 0
    stages: tuple[Stage, ...] = field(default=())
    answers: Answers = field(default_factory=Answers)
