"""The schedules that systems run, beside what the writers of their texts do."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.formats import WRITERS
from tiger.placement.emission.schedules import SYSTEM_SCHEDULES, System, lacks_stages, replaces
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of


@pytest.mark.parametrize("schedule", get_args(Schedule))
@pytest.mark.parametrize("system", get_args(System))
def test_writers_do_as_the_table_says(deploy: Callable[..., Deployment], system: str, schedule: Schedule) -> None:
    """They refuse stages that a system does not have, and those of training say what it runs instead."""
    cuts = (0, 2, 4) if stages_each(schedule) == 1 else (0, 1, 2, 3, 4)
    made = deploy(cuts, [[[0]], [[1]]])
    made = replace(made, plan=replace(made.plan, style=style_of(schedule)), schedule=schedule)
    if lacks_stages(system, schedule, None):
        with pytest.raises(InputError, match=r"^emit: expected"):
            WRITERS[system](made)
        return
    said = f"made for the schedule {schedule}, which" in WRITERS[system](made)
    assert said == (replaces(system, schedule) and system in ("megatron", "deepspeed", "torch"))


def test_one_interleaved_stage_is_a_stage() -> None:
    """Where so many are asked for; others may be more."""
    assert tuple(WRITERS) == tuple(SYSTEM_SCHEDULES) == get_args(System)
    assert [lacks_stages("vllm", "interleaved", virtual) for virtual in (None, 1, 2)] == [True, False, True]
