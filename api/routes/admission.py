"""Whether a request is so little work that it is answered at once, without a stored job."""

from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.patterns.spec import parse
from tiger.solvers.registry import DWAVE

# About a tenth of a second of work on one core each; a wrong guess costs time alone, for the budget bounds it.
SMALL_S = 0.25
# Tasks of the native search and of others, and edges; characters of a circuit at levels 0 and 1 and above, or of a file
# of tasks, a handful for each edge; and layers.
SMALL_TASKS, SMALL_HARD_TASKS, SMALL_EDGES = 128, 24, 2048
SMALL_TEXT, SMALL_HARD_TEXT, SMALL_LAYERS = 8192, 600, 64
LISTS = ("layers", "operators", "nodes")


def is_small(request: AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest) -> bool:
    """Guess from its size, its effort and its time limit whether a request takes a fraction of a second."""
    if not isinstance(request, ExpertRequest) and request.solver in DWAVE:
        return False
    if request.time_limit_s is not None and request.time_limit_s <= SMALL_S:
        return True
    match request:
        case AssignRequest():
            return _has_few_tasks(request)
        case CircuitRequest():
            most = SMALL_TEXT if request.level <= 1 else SMALL_HARD_TEXT
            return len(request.circuit) * request.effort * request.islands <= most
        case PlaceRequest():
            return _has_few_layers(request)
        case PlanRequest():
            # A plan is the search of many placements.
            return False
        case ExpertRequest():
            # Loads are balanced at once; a search over transitions takes longer.
            return request.kind == "loads" and len(request.trace) <= SMALL_LAYERS


def _has_few_tasks(request: AssignRequest) -> bool:
    """Return whether tasks and edges, times the effort, are few; with a time limit alone, a search lasts that long."""
    if request.effort is None and request.time_limit_s is not None:
        return False
    effort = (request.effort or 1) * request.islands
    plain = (
        request.solver == "auto"
        and request.rule != "levels"
        and request.objective == "cost"
        and not _has_hyperedges(request)
    )
    text = None if isinstance(request.tasks, str) else request.tasks.get("text")
    if isinstance(text, str):
        return len(text) * effort <= (SMALL_TEXT if plain else SMALL_HARD_TEXT)
    if isinstance(request.tasks, str):
        pattern = parse(request.tasks)
        tasks, edges = pattern.ranks * effort, pattern.messages * effort
    else:
        tasks, edges = (_length(request.tasks, name) * effort for name in ("nodes", "edges"))
    return tasks <= (SMALL_TASKS if plain else SMALL_HARD_TASKS) and edges <= SMALL_EDGES


def _has_hyperedges(request: AssignRequest) -> bool:
    """Return whether tasks have hyperedges, which are searched for longer."""
    if isinstance(request.tasks, str):
        return False
    return "hyperedges" in request.tasks or str(request.tasks.get("file", "")).lower().endswith(".hgr")


def _has_few_layers(request: PlaceRequest) -> bool:
    """Return whether layers or operators, times the effort, are listed and few; a described model's are not counted."""
    listed: object = request.model
    if isinstance(request.model, dict):
        listed = next((request.model[name] for name in LISTS if name in request.model), None)
    return isinstance(listed, list) and len(listed) * request.effort <= SMALL_LAYERS


def _length(graph: dict[str, object], name: str) -> int:
    """Return how long a list of a graph is; edges may go by their older name."""
    found = graph.get(name, graph.get("links") if name == "edges" else None)
    return len(found) if isinstance(found, list) else 0
