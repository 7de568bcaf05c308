"""The plan that somebody has, said in short: `tp=4,pp=8,vp=5,dp=2,mbs=1,gbs=128,sharding=zero-1,recompute=full`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tiger.errors import InputError
from tiger.model.text import is_number
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.placement.params import COUNT_LIMIT
from tiger.planning.choices import Choice, Family, batch_of
from tiger.planning.params import PlanOptions
from tiger.planning.request import check_model, check_plan_options
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model
from tiger.training.schedules.pass_orders import MOST_PASSES, V_ORDERS, wanted_microbatches

FIELD = "given"
# What people call the options of a plan in short.
SHORT = {
    "tp": "tensor",
    "pp": "pipeline",
    "vp": "virtual",
    "dp": "data",
    "cp": "context",
    "ep": "expert",
    "mbs": "microbatch",
    "gbs": "batch",
}
HELD = ("sharding", "recompute", "recompute_layers", "schedule")
KEYS = (*SHORT, *SHORT.values(), *HELD)
# Digits of a number that is read as one; longer words are no number of devices.
DIGITS = 9


def choose_given(model: Model, cluster: Cluster, options: PlanOptions) -> tuple[PlanOptions, Choice | None]:
    """Return options with the batch of the plan given, and the choice that it is; None without one.

    What it leaves out is as frameworks have it: degrees of 1, replicas on all devices, nothing shared out or computed
    again, 1F1B, interleaved with several stages a device. Raises InputError of `given/KEY` for what does not go
    together, or not with the model, the cluster or the batch.
    """
    if options.given is None:
        return options, None
    return choose_by_keys(model, cluster, options, _split(options.given))


def choose_by_keys(
    model: Model, cluster: Cluster, options: PlanOptions, words: Iterable[tuple[str, str]]
) -> tuple[PlanOptions, Choice]:
    """Return what `choose_given` does, of a plan by some of the `KEYS` with a word for each."""
    keys, values = _read_words(words)
    if options.batch not in (None, values.get("batch", options.batch)):
        raise InputError(f"{FIELD}/{keys['batch']}", f"expected the batch of {options.batch} that is planned for")
    with _name_keys(keys):
        whole = check_plan_options(_fill_in(model, cluster, replace(options, given=None), values))
        check_model(model, cluster, whole)
        whole = replace(whole, batch=batch_of(model, cluster, whole))
        choice = _choose(model, whole)
    return replace(options, batch=whole.batch), choice


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a text and the words for them; raise InputError, and TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError(f"{FIELD}: expected text, got {type(text).__name__}")
    for part in text.split(","):
        key, equals, word = (piece.strip() for piece in part.partition("="))
        if not equals or key not in KEYS:
            reason = f"expected KEY=VALUE with a key out of {', '.join(KEYS)}"
            hint = "" if key in KEYS else suggest_name(key, KEYS)
            raise InputError(FIELD, f"{reason}, got {describe(part.strip())}{hint}")
        yield key, word


def _read_words(words: Iterable[tuple[str, str]]) -> tuple[dict[str, str], dict[str, object]]:
    """Return the keys and the values of words by the options that they are."""
    keys, values = dict[str, str](), dict[str, object]()
    for key, word in words:
        option = SHORT.get(key, key)
        if option in values:
            raise InputError(f"{FIELD}/{key}", f"expected {option} once, got it again")
        whole = len(word) <= DIGITS and is_number(word) and word.isdecimal()
        keys[option], values[option] = key, int(word) if whole else word
    return keys, values


def _fill_in(model: Model, cluster: Cluster, options: PlanOptions, values: dict[str, object]) -> PlanOptions:
    """Return options in which the plan leaves nothing open but the batch."""
    virtual = values.get("virtual", 1)
    stages = 2 if values.get("schedule") in ("interleaved", *V_ORDERS) else 1
    usual = dict.fromkeys(("tensor", "pipeline", "context", "expert"), 1) | {
        "sharding": "none",
        "recompute": "full" if "recompute_layers" in values else "none",
        "schedule": "1f1b" if virtual == 1 else "interleaved",
        "virtual": stages,
        "microbatch": model.sizes[0],
    }
    stated = usual | values
    wide = [stated[name] for name in ("tensor", "pipeline", "context")]
    used = 1
    for size in wide:
        # What is no number is refused by the check of all options.
        used *= size if isinstance(size, int) and size > 0 else 1
    # The plan that there is may be one of another framework.
    stated |= {"framework": None}
    return replace(options, **{"data": max(cluster.size // used, 1)} | stated)  # type: ignore[arg-type]  # checked next


def _choose(model: Model, params: PlanOptions) -> Choice:
    """Return the choice that options without anything open are; raise InputError of an option."""
    pipeline, virtual = params.pipeline or 1, params.virtual or 1
    data, size, batch = params.data or 1, params.microbatch or 1, params.batch or 1
    count = batch // (data * size)
    family = Family(
        tensor=params.tensor or 1,
        data=data,
        microbatch=size,
        microbatches=count,
        context=params.context or 1,
        expert=params.expert or 1,
        sharding=params.sharding or "none",
        recompute=params.recompute or "none",
        recompute_layers=params.recompute_layers or 0,
    )
    choice = Choice(family=family, pipeline=pipeline, schedule=params.schedule or "1f1b", virtual=virtual)
    stages = pipeline * virtual
    if stages > model.given.size:
        raise InputError("pipeline", f"expected at most {model.given.size} stages, a layer each, got {stages}")
    if (wanted := wanted_microbatches(choice.schedule, pipeline, count)) is not None:
        reason = f"expected devices in a row that can run {count} microbatches of a replica"
        raise InputError("pipeline", f"{reason}, got {pipeline}, which want {wanted}")
    if count > COUNT_LIMIT or choice.passes > MOST_PASSES:
        raise InputError("batch", f"expected at most {MOST_PASSES} passes of a replica, got {choice.passes}")
    return choice


@contextmanager
def _name_keys(keys: dict[str, str]) -> Iterator[None]:
    """Turn an InputError of an option into one of the key that says it, of the usual key where none does.

    A batch, and what else is not of the plan, is one of all plans where the plan does not say it.
    """
    usual = {option: key for key, option in SHORT.items() if option != "batch"} | keys
    try:
        yield
    except InputError as error:
        if error.field in (*usual, *HELD):
            raise InputError(f"{FIELD}/{usual.get(error.field, error.field)}", error.reason) from None
        raise
