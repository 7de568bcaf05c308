"""The use of rebalancing a pipeline: what it takes, how it is answered, and what is said of its reports."""

from tiger.rebalancing.params import RebalanceCall
from tiger.run.use import Command, Kernels, Late, Use

REBALANCING = Use(
    answer=Late("tiger.rebalancing.entry", "rebalance"),
    report=Late("tiger", "RebalanceReport"),
    schema="tiger.rebalancing/1",
    summary=Late("tiger.rebalancing.summary", "rebalance_summary"),
    explanation=Late("tiger.rebalancing.explanation", "explain_rebalancing"),
    pictures=Late("tiger.rebalancing.pictures", "list_pictures"),
    # A step takes milliseconds, and loading its kernels half a second.
    kernels=Kernels(command="place", stages=Late("tiger.rebalancing.warm", "STAGES")),
    commands=(
        Command(
            name="rebalance",
            call=RebalanceCall,
            help="""Follow layers whose times change while a model trains: for each interval, keep the plan or move
            layers.

            Exits with 0, or 2 on bad input. The summary compares with uniform cuts and with the best cuts that never
            move, all by simulation; it goes to standard output, progress and complaints to standard error.
            """,
            examples=(
                "tiger rebalance examples/models/gpt2-medium.json --cluster dgx:1 \\\n"
                "  --pipeline-parallel 4 --workload pruning:intervals=10",
            ),
        ),
    ),
)
