"""The readers of models, chosen by the ending of a file, by a SPEC, or by the keys of a document."""

from collections.abc import Callable
from pathlib import Path

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import FileText, find_file, text_of
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.description import describe_file, describe_model, is_description, list_names, suggest_model
from tiger.training.models.gguf_models import ENDING
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT
from tiger.training.models.pipedream import layers_of_graph
from tiger.training.models.spec import SYNTAX
from tiger.training.models.table import layers_of_csv, layers_of_table

KEYS = ("layers", "transformer", "graph")


def read_model(source: Path | str | FileText, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the layers of a SPEC `transformer:..`, of a model by its name, or of a file or its text.

    A file is a `.txt` of PipeDream, a table as `.csv` or `.json`, or a `.gguf`, of which the header is read; a name
    never opens one.

    A `.json` may hold whatever `model_of_document` takes. Raises InputError of `model` or below.
    """
    # Checked first, as a SPEC may end like a file.
    if isinstance(source, str) and is_description(source):
        return model_of_document(source, max_layers)
    name = source.file if isinstance(source, FileText) else str(source)
    if Path(name).suffix.lower() == ENDING:
        if isinstance(source, FileText):
            reason = "expected text, as a GGUF file is read where it lies and no service takes it"
            raise InputError("model", f"{reason}, got {describe(name, 300)}")
        return describe_file(Path(source)).layers(max_layers)
    reader = _FILES.get(Path(name).suffix.lower())
    if reader is None:
        what = f"expected a file ending in {', '.join((*_FILES, ENDING))}, a SPEC such as {SYNTAX}, {list_names()}"
        raise InputError("model", f"{what}, got {describe(name, 300)}{suggest_model(name)}")
    return reader(text_of(source, "model"), max_layers)


def model_of_document(document: object, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the layers of `{"layers": [..]}`, `{"transformer": {..}}`, `{"graph": "text of graph.txt"}`, or a text.

    A text is a SPEC or the name of a model, a list a table of layers, an object with `model_type` the configuration of
    a model of Hugging Face, and `{"file": name, "text": text}` the text of a file that `read_model` takes. No string is
    opened as a file. Raises InputError of `model` or below.
    """
    if (described := describe_model(document)) is not None:
        return described.layers(max_layers)
    file = find_file("model", document)
    if file is not None:
        return read_model(file, max_layers)
    if isinstance(document, list) or (isinstance(document, dict) and "layers" in document):
        return layers_of_table(document, max_layers)
    if not isinstance(document, dict) or document.keys() != {"graph"}:
        what = "expected an object with one of layers, transformer, graph and model_type"
        what = f"{what}, a SPEC such as {SYNTAX}, {list_names()}"
        raise InputError("model", f"{what}, got {_describe(document)}")
    text = document["graph"]
    if not isinstance(text, str):
        raise InputError("model/graph", f"expected the text of a graph.txt, got {describe(text)}")
    return layers_of_graph(text, max_layers)


def _describe(document: object) -> str:
    """Describe a document that is no model."""
    if not isinstance(document, dict):
        return f"{describe(document)}{suggest_model(document)}"
    hint = next(filter(None, (suggest_name(key, KEYS) for key in document)), "")
    return f"an object with {', '.join(describe(key) for key in list(document)[:4]) or 'no keys'}{hint}"


_FILES: dict[str, Callable[[str, int], Layers]] = {
    ".txt": layers_of_graph,
    ".csv": layers_of_csv,
    ".json": lambda text, max_layers: model_of_document(read_json(text, "model"), max_layers),
}
