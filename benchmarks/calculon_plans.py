"""Plans judged by another model of training: Calculon's (Isaev et al., SC 2023), beside the optimum of its own choices.

TIGER plans with its own costs; what it chooses is then priced by Calculon, which is free, as its own search is, to
choose how messages overlap.
"""

import itertools
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import tiger
from tiger.errors import InputError
from tiger.planning.report import RankedPlan

SYSTEM = "systems/a100_80g.json"
# Devices of a machine, which are as many as tensor parallelism has at the most, and sequences of a microbatch.
MACHINE, MICROBATCHES = 8, (1, 2, 4, 8, 16)
# Blocks as Calculon has them, which hold the scores of attention and neither embed words nor guess them.
REST = "vocabulary=1024,sequence=2048,attention=full"
# Plans of TIGER's that are priced until one fits into the memory that Calculon counts.
TOP = 200
RECOMPUTE = {"none": "none", "selective": "attn_only", "full": "full"}


class Case(NamedTuple):
    """Name a network of decoder blocks alone, and how many devices train it with how many sequences an iteration."""

    title: str
    layers: int
    hidden: int
    heads: int
    devices: int
    batch: int = 512


CASES = (
    Case("13B, 64 GPUs", 40, 5120, 40, 64),
    Case("22B, 64 GPUs", 48, 6144, 64, 64),
    Case("Chinchilla 70B, 128 GPUs", 80, 8192, 64, 128),
    Case("175B, 128 GPUs", 96, 12288, 96, 128),
    Case("530B, 560 GPUs", 105, 20480, 128, 560, 560),
    Case("1T, 512 GPUs", 128, 25600, 160, 512),
)


class Choice(NamedTuple):
    """Hold what a plan chooses, in Calculon's words."""

    tensor: int
    pipeline: int
    interleaving: int
    microbatch: int
    recompute: str
    sharded: bool


def table(say: Callable[[str], None], folder: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the optimum of Calculon's choices, and the usual plan's and TIGER's seconds over it, by its costs."""
    yield (
        *("model and A100s", "sequences", "optimum (PP x TP x DP)", "s", "its search, s"),
        *("usual plan", "over the optimum", "TIGER", "over the optimum", "its search, s"),
    )
    if folder is None:
        raise InputError("--calculon", "expected a checkout of github.com/calculon-ai/calculon, got none")
    llm = _load(folder)
    for case in CASES:
        say(case.title)
        pricing = _Pricing(llm, folder, case)
        begun_s = time.process_time()
        best_s, best = min((seconds, choice) for choice in pricing.choices() if (seconds := pricing.price(choice)))
        searched_s = time.process_time() - begun_s
        shape = f"transformer:layers={case.layers},hidden={case.hidden},heads={case.heads},{REST}"
        begun_s = time.process_time()
        report = tiger.plan(
            shape,
            f"dgx-a100:{case.devices // MACHINE}",
            batch=case.batch,
            framework="megatron",
            sharding="zero-1",
            top=TOP,
        )
        planned_s = time.process_time() - begun_s
        if report.best is None or report.heuristic is None:
            raise SystemExit(f"expected a plan for {case.title}, and a usual one, got none")
        found = []
        for plans in ((report.heuristic,), report.ranked):
            priced = ((k, choice, pricing.price(choice)) for k, choice in enumerate(map(_translate, plans), 1))
            rank, choice, seconds = next((each for each in priced if each[2] is not None), (0, None, None))
            at = f" (no. {rank})" if rank > 1 else ""
            words = "none that fits" if choice is None else _words(choice, case) + at
            found += [words, "-" if seconds is None else f"{seconds / best_s:.2f}"]
        ends = f"{best_s:.2f}", f"{searched_s:.0f}"
        yield case.title, str(case.batch), _words(best, case), *ends, *found, f"{planned_s:.0f}"


class _Pricing:
    """Price choices of a case by Calculon's model."""

    def __init__(self, llm: ModuleType, folder: Path, case: Case) -> None:
        import calculon.io  # type: ignore[import-not-found]  # of the checkout

        self.llm, self.case = llm, case
        self.system = llm.System(calculon.io.read_json_file(str(folder / SYSTEM)))
        self.network = llm.Llm.Application(
            {
                "hidden": case.hidden,
                "feedforward": 4 * case.hidden,
                "seq_size": 2048,
                "attn_heads": case.heads,
                "attn_size": case.hidden // case.heads,
                "num_blocks": case.layers,
            }
        )

    def choices(self) -> Iterator[Choice]:
        """Yield all choices that TIGER's plans have, too; nothing is offloaded."""
        for tensor, pipeline in itertools.product((1, 2, 4, 8), range(1, self.case.devices + 1)):
            if self.case.devices % (tensor * pipeline) or self.case.heads % tensor or pipeline > self.case.layers:
                continue
            data = self.case.devices // (tensor * pipeline)
            if self.case.batch % data or self.case.layers % pipeline:
                continue
            stages = [v for v in range(1, self.case.layers // pipeline + 1) if self.case.layers // pipeline % v == 0]
            for virtual in stages if pipeline > 1 else [1]:
                for size, recompute in itertools.product(MICROBATCHES, RECOMPUTE.values()):
                    if self.case.batch // data % size == 0:
                        yield Choice(tensor, pipeline, virtual, size, recompute, data > 1)

    def price(self, choice: Choice) -> float | None:
        """Return the least seconds of an iteration, over how messages go and overlap; None where it does not fit."""
        data = self.case.devices // (choice.tensor * choice.pipeline)
        rest = itertools.product(
            ("rs_ag", "ar", "p2p_rs_ag") if choice.tensor > 1 else ("ar",),
            (True, False) if data > 1 else (False,),
            ("ring", "pipe", "none") if choice.tensor > 1 else ("none",),
            (0, 1) if choice.pipeline > 1 else (0,),
            (0, 1) if data > 1 else (0,),
        )
        found = (self._run(choice, data, *each) for each in rest)
        return min((seconds for seconds in found if seconds is not None), default=None)

    def _run(self, choice: Choice, data: int, sent: str, hidden: bool, overlap: str, *networks: int) -> float | None:  # noqa: FBT001 (an item of a product)
        """Return the seconds of an iteration with all that Calculon asks for."""
        stated: dict[str, Any] = {
            "num_procs": self.case.devices,
            "tensor_par": choice.tensor,
            "pipeline_par": choice.pipeline,
            "data_par": data,
            "tensor_par_net": 0,
            "pipeline_par_net": networks[0],
            "data_par_net": networks[1],
            "batch_size": self.case.batch,
            "microbatch_size": choice.microbatch,
            "datatype": "float16",
            "fused_activation": True,
            "attention_type": "multihead",
            "activation_recompute": choice.recompute,
            "pipeline_interleaving": choice.interleaving,
            "optimizer_sharding": choice.sharded,
            "tensor_par_comm_type": sent,
            "tensor_par_overlap": overlap,
            "seq_par_ag_redo": sent == "rs_ag" and choice.recompute != "full",
            "data_par_overlap": hidden,
            **dict.fromkeys(("weight_offload", "activations_offload", "optimizer_offload"), False),
            "training": True,
        }
        model = self.llm.Llm(self.network, logging.getLogger("calculon"))
        try:
            model.compile(self.system, self.llm.Llm.Execution.from_json(stated))
            model.run(self.system)
        except self.llm.Llm.Error:
            return None
        return float(model.get_total_time())


def _load(folder: Path) -> ModuleType:
    """Return Calculon's model, of its checkout."""
    sys.path.insert(0, str(folder))
    from calculon import llm  # of the checkout

    return llm  # type: ignore[no-any-return]  # it has no types


def _translate(plan: RankedPlan) -> Choice:
    """Return TIGER's choice in Calculon's words."""
    degrees = plan.degrees
    return Choice(
        degrees.tensor,
        degrees.pipeline,
        degrees.virtual,
        degrees.microbatch or 1,
        RECOMPUTE[degrees.recompute],
        degrees.data > 1,
    )


def _words(choice: Choice, case: Case) -> str:
    """Return a choice in short."""
    data = case.devices // (choice.tensor * choice.pipeline)
    stages = f", {choice.interleaving} stages" if choice.interleaving > 1 else ""
    again = {"none": "", "attn_only": ", attention again", "full": ", all again"}[choice.recompute]
    return f"{choice.pipeline} x {choice.tensor} x {data}{stages}, microbatches of {choice.microbatch}{again}"
