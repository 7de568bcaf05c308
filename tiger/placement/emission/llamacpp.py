r"""The split of llama.cpp: how many layers its GPUs hold (`-ngl`), and which of them each (`-ts`).

Of n decoder layers and the head as layer n, the last `-ngl` are on GPUs and the others on the CPU. With g of them on
GPUs, number k of these is on the first GPU up to which the parts of `-ts` add up to more than k / g of their sum, so
that counts of layers are such parts. The embedding is always on the CPU. `-ot` moves what it matches: the experts of a
layer are `blk.N.ffn_up_exps.weight` and the like. Source: `load_tensors` in src/llama-model.cpp, and its server's
README; the head has counted first since pull request 18148 of December 2025.
"""

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.placement.emission.deployment import FIELD, Deployment
from tiger.placement.emission.nodes import VISIBLE, order_lines
from tiger.placement.emission.pipeline_split import comment_training
from tiger.placement.emission.reasons import comments

SYSTEM = "llama.cpp"
# Cells of a sequence in the cache are rounded up to a multiple of this.
PADDING = 256
# Types of the cache by their names there; those in 16 bits are what it has by default.
CACHES = {"int8": "q8_0"}


def write(deployment: Deployment) -> str:
    """Return reasons as comments, the visible devices, and the command of its server.

    Raises InputError of `emit` for what its flags cannot say.
    """
    _check(deployment)
    counts, kinds = deployment.decoder_counts, _kinds(deployment)
    if kinds[-1] == "accelerator":
        # The head counts as a layer of the last device.
        counts = (*counts[:-1], counts[-1] + 1)
    cards = [count for count, kind in zip(counts, kinds, strict=True) if kind == "accelerator"]
    if not all(cards):
        reason = (
            "expected a decoder layer or the head in every stage on a GPU, as llama.cpp keeps the embedding on the CPU"
        )
        raise InputError(FIELD, f"{reason}, got none in stage {counts.index(0)}")
    flags = [f"-ngl {sum(cards)}", *([f"-ts {','.join(map(str, cards))}"] if len(cards) > 1 else [])]
    flags += [*_hosted(deployment), *_served(deployment)]
    remarks = [*comments(deployment), *comment_training(deployment), *_remarks(deployment, kinds)]
    lines = [*remarks, *_devices(deployment), " \\\n  ".join(["llama-server -m MODEL", *flags])]
    return "\n".join(lines) + "\n"


def _check(deployment: Deployment) -> None:
    """Raise InputError of `emit` for a plan of another kind than layers on single devices of one machine."""
    deployment.check_plain(SYSTEM)
    plan, kinds = deployment.plan, _kinds(deployment)
    if plan.grid[0].size > 1:
        raise InputError(FIELD, f"expected one device a stage for {SYSTEM}, got {plan.grid[0].size}")
    homes = set(deployment.cluster.machine[plan.grid.ravel()].tolist())
    if len(homes) > 1:
        raise InputError(FIELD, f"expected devices of one machine for {SYSTEM}, got {len(homes)} machines")
    if "cpu" in kinds[1:]:
        reason = f"expected the first layers on the cpu, as {SYSTEM} counts those on GPUs from the last one"
        hint = f"pin {describe(deployment.layers.names[0])} to it"
        raise InputError(FIELD, f"{reason}, got stage {kinds.index('cpu', 1)} there: {hint}")
    wrong = [b for b in deployment.blocks if b.kind == "head" and b.stage < plan.stages - 1]
    wrong += [b for b in deployment.blocks if b.kind == "mtp"]
    if wrong:
        raise InputError(FIELD, f"expected decoder layers and a head behind them, got {describe(wrong[0].module)}")


def _kinds(deployment: Deployment) -> tuple[str, ...]:
    """Return the kind of the device of every stage."""
    return tuple(deployment.cluster.kinds[device] for device in deployment.plan.grid[:, 0, 0])


def _hosted(deployment: Deployment) -> list[str]:
    """Return the flag that has experts of some layers on the CPU."""
    if not deployment.hosted:
        return []
    decoders = [at for at, kind in enumerate(deployment.layers.kinds) if kind == "layer"]
    numbers = "|".join(str(decoders.index(layer)) for layer in deployment.hosted)
    return [rf"-ot 'blk\.({numbers})\.ffn_(up|down|gate|gate_up)_exps=CPU'"]


def _served(deployment: Deployment) -> list[str]:
    """Return the flags of how many sequences there are, of how many tokens, as far as that is known."""
    served = deployment.layers.served
    if served is None:
        return []
    if served.cache_type == "fp8":
        raise InputError(FIELD, f"expected a cache in 16 bits or int8, as {SYSTEM} has no other of that size, got fp8")
    name = CACHES.get(served.cache_type)
    flags = [f"-c {served.sequences * served.tokens}", f"--parallel {served.sequences}"]
    return [*flags, *([f"-ctk {name} -ctv {name}"] if name else [])]


def _remarks(deployment: Deployment, kinds: tuple[str, ...]) -> list[str]:
    """Return comments on what differs from what was counted, or between versions."""
    served = deployment.layers.served
    remarks = []
    if kinds[0] == "cpu" and len(kinds) > 1 and deployment.decoder_counts[0]:
        remarks.append("# -ngl counts the head first, as since December 2025; earlier versions count it last")
    if served is not None and served.tokens % PADDING:
        remarks.append(
            f"# the cache of a sequence is rounded up to a multiple of {PADDING} tokens, which is not counted"
        )
    if served is not None and served.cache_type in CACHES:
        remarks.append("# q8_0 takes 34 bytes for 32 numbers of the cache, of which 32 are counted")
    return remarks


def _devices(deployment: Deployment) -> list[str]:
    """Return the lines that make the GPUs of the stages visible, in their order."""
    own = deployment.cuda_indices
    listed = [str(own[device]) for device in deployment.plan.grid.ravel().tolist() if device in own]
    return [*order_lines(deployment), f"export {VISIBLE}={','.join(listed)}"]
