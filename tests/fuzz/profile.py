"""How many cases a fuzzer draws: a few, always the same, in `make test`, and many new ones in `make fuzz`."""

import os

from hypothesis import HealthCheck, Phase, settings

LONG = os.environ.get("TIGER_FUZZ") == "long"


def cases(quick: int, long: int) -> settings:
    """Return settings for so many cases of a property, by the environment variable `TIGER_FUZZ`.

    The quick cases are the same in every run. The long ones are new each time, but for `--hypothesis-seed`.
    """
    return settings(
        max_examples=long if LONG else quick,
        deadline=None,
        derandomize=not LONG,
        database=None,
        print_blob=LONG,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
