"""The recipe for tables from PyTorch, as far as it can be looked at without PyTorch."""

import ast
import re
from pathlib import Path

from tiger.training.models.columns import COLUMNS

RECIPE = Path(__file__).resolve().parents[3] / "docs" / "torch_profile.md"


def test_the_recipe_writes_the_columns_that_tables_have():
    """The keys of its rows, and of its tables."""
    blocks = re.findall(r"```python\n(.*?)```", RECIPE.read_text(encoding="utf-8"), re.S)
    trees = [ast.parse(block) for block in blocks]
    records = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    keys = {key.value for record in records for key in record.keys if isinstance(key, ast.Constant)}
    rows = keys - {"layers", "edges", "tied", "retain_graph", "allow_unused"}
    assert {"name", "forward_s", "backward_s", "parameter_bytes", "activation_bytes"} <= rows <= set(COLUMNS)
