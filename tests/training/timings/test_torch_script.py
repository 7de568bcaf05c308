"""The script that measures times with PyTorch, as far as it can be looked at without PyTorch."""

import ast
import re
from pathlib import Path

from tiger.training.timings.csvtimes import COLUMNS, REQUIRED, SIZES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "torch_profile.md"


def test_the_script_writes_columns_that_are_read():
    """In the order in which it takes the sizes of an operation."""
    text = PAGE.read_text(encoding="utf-8")
    columns = re.findall(r'COLUMNS = "(.*)"\.split', text)[0].split(",")
    assert set(REQUIRED) | {"pass"} == set(columns[:5])
    assert set(columns) <= set(COLUMNS)
    functions = [
        node
        for block in re.findall(r"```python\n(.*?)```", text, re.S)
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.FunctionDef) and node.name in SIZES
    ]
    sizes = {node.name: [argument.arg for argument in node.args.args[1:]] for node in functions}
    assert sizes == {"product": columns[5:8], "attention": columns[8:]}


def test_the_page_names_every_size():
    """Of the operations that a file may have."""
    section = PAGE.read_text(encoding="utf-8").partition("## Times of products and attention")[2].partition("\n## ")[0]
    assert {f"`{size}`" for sizes in SIZES.values() for size in sizes} <= set(re.findall(r"`\w+`", section))
