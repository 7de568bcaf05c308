"""The readers of operator graphs, chosen by the ending of a file or by the keys of a document."""

from collections.abc import Mapping
from pathlib import Path

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import FileText, find_file, text_of
from tiger.model.wording import describe
from tiger.training.models.dnnpartitioning import Devices, operators_of_nodes
from tiger.training.models.limits import OPERATOR_LIMIT
from tiger.training.models.operators import Operators
from tiger.training.models.operatortable import operators_of_csv, operators_of_table
from tiger.training.models.pipedream import operators_of_graph

OperatorsAndDevices = tuple[Operators, Devices | None]
ENDINGS = (".json", ".csv", ".txt")
CHAINS = ("layers", "transformer")
KEYS = ("nodes", "operators", "graph")


def read_operators(source: Path | str | FileText, max_operators: int = OPERATOR_LIMIT) -> OperatorsAndDevices:
    """Return the operators of a file or its text, and the devices that it states, if it does.

    A `.csv` is a table of operators, a `.txt` a profile of PipeDream, and a `.json` holds whatever
    `operators_of_document` takes. Raises InputError of `model` or below.
    """
    name = source.file if isinstance(source, FileText) else str(source)
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        what = f"expected a graph of operators in a file ending in {', '.join(ENDINGS)}"
        raise InputError("model", f"{what}, got {describe(name, 300)}")
    text = text_of(source, "model")
    if ending == ".csv":
        return operators_of_csv(text, max_operators), None
    return operators_of_document({"graph": text} if ending == ".txt" else read_json(text, "model"), max_operators)


def operators_of_document(document: object, max_operators: int = OPERATOR_LIMIT) -> OperatorsAndDevices:
    """Return the operators of a document, and the devices that it states, if it does.

    It has `nodes` and `edges` as those of dnn-partitioning have, `operators` and `edges`, the text of a profile of
    PipeDream as `graph`, or `file` and `text`, the name and the text of a file that `read_operators` takes. No string
    is opened as a file. Raises InputError of `model` or below.
    """
    if not isinstance(document, Mapping):
        what = "a string" if isinstance(document, str) else describe(document)
        raise InputError("model", f"expected an object with one of {', '.join(KEYS)}, got {what}")
    file = find_file("model", document)
    if file is not None:
        return read_operators(file, max_operators)
    if "nodes" in document:
        return operators_of_nodes(document, max_operators)
    if "operators" in document:
        return operators_of_table(document, max_operators), None
    if "graph" not in document or len(document) != 1:
        raise InputError("model", f"expected an object with one of {', '.join(KEYS)}, got {_describe(document)}")
    text = document["graph"]
    if not isinstance(text, str):
        raise InputError("model/graph", f"expected the text of a graph.txt, got {describe(text)}")
    return operators_of_graph(text, max_operators), None


def _describe(document: Mapping[str, object]) -> str:
    """Describe a document that is no graph of operators."""
    chain = next((key for key in CHAINS if key in document), None)
    if chain is not None:
        return f"one with {chain}, which is placed as a chain"
    return f"one with {', '.join(describe(key) for key in list(document)[:4]) or 'no keys'}"
