"""One stage of a solve, as plain values."""

import json
import math
from types import MappingProxyType

from tiger.run.stage import Stage


def test_bug_details_become_plain() -> None:
    """Nested mappings and tuples become dictionaries and lists; what is not finite becomes null."""
    trials = ({"penalty": 1.5}, MappingProxyType({"penalty": math.inf}))
    stage = Stage(name="tune", cost=math.nan, seconds=0.0, detail={"trials": trials, "note": None, "ok": True})
    plain = {"trials": [{"penalty": 1.5}, {"penalty": None}], "note": None, "ok": True}
    document = json.loads(json.dumps(stage.to_dict(), allow_nan=False))
    assert document == {"name": "tune", "cost": None, "seconds": 0.0, **plain}
