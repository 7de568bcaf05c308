"""Models that are described and not listed layer by layer: by a shape, a name, or a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tiger.model.values import suggest_name
from tiger.training.models.configs import is_config, shape_of_config
from tiger.training.models.gguf_models import read_stored_model
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT
from tiger.training.models.named import MODELS, QUANTIZED
from tiger.training.models.quantization import weights_of_quantization
from tiger.training.models.serving import StoredBytes
from tiger.training.models.setup import NO_SETUP, TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.spec import PREFIX, shape_of_document, values_of_spec
from tiger.training.models.transformer import layers_of_shape
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts


@dataclass(frozen=True, slots=True)
class Description:
    """Hold a shape, what its checkpoint states of quantized weights, and what its reader took that nobody stated.

    `weight_bytes[L + 2]` are those of embedding, decoder and head as a file has them, which serves, and
    `expert_bytes[L + 2]` the part of them that experts take.
    """

    shape: Shape
    quantization: object = None
    remarks: tuple[str, ...] = ()
    weight_bytes: tuple[int, ...] | None = None
    expert_bytes: tuple[int, ...] = ()

    def serve(self, sequences: int) -> Self:
        """Return the model that serves so many sequences at once, with the weights of its checkpoint.

        Raises InputError of a quantization that is not known.
        """
        weights = self.shape.weights or weights_of_quantization(self.quantization)
        return replace(self, shape=replace(self.shape, serve=True, batch=sequences, weights=weights))

    def layers(
        self, max_layers: int = LAYER_LIMIT, setup: TrainingSetup = NO_SETUP, costs: OperationCosts = USUAL_COSTS
    ) -> Layers:
        """Return the layers of the shape; raise InputError as `layers_of_shape`."""
        stored = None if self.weight_bytes is None else StoredBytes(self.weight_bytes, self.expert_bytes)
        return layers_of_shape(self.shape, max_layers, setup, costs, stored)


def is_description(text: str) -> bool:
    """Return whether a text is a SPEC of a shape or begins with the name of a model, so that no file is meant."""
    return text.startswith(PREFIX) or _name_of(text) in MODELS


def describe_model(document: object, sequences: int | None = None) -> Description | None:
    """Return the description that a document or a text is, None for any other; raise InputError of `model` or below.

    With a number of `sequences` the model serves as many at once, whatever it says itself.
    """
    own: Mapping[str, object] = {} if sequences is None else {"serve": True, "batch": sequences}
    if isinstance(document, str):
        if document.startswith(PREFIX):
            return Description(shape_of_document({**values_of_spec(document.removeprefix(PREFIX)), **own}))
        return _describe_named(document, own) if is_description(document) else None
    if isinstance(document, dict) and is_config(document):
        shape = shape_of_config(document)
        taken = f"the configuration states no length of training sequences: {shape.sequence:,} tokens are taken"
        found = Description(shape, document.get("quantization_config"), (f"{taken}, state another as sequence",))
        return found if sequences is None else found.serve(sequences)
    if isinstance(document, dict) and document.keys() == {"transformer"}:
        stated = document["transformer"]
        return Description(shape_of_document({**stated, **own} if isinstance(stated, dict) else stated))
    return None


def describe_file(path: Path) -> Description:
    """Return the model of a GGUF file, which serves one sequence; raise InputError of `model` or below."""
    stored = read_stored_model(path)
    taken = f"the file says nothing of how long sequences are: {stored.shape.sequence:,} tokens are taken"
    remarks = (f"{taken}, state another as sequence",)
    return Description(stored.shape, None, remarks, stored.weight_bytes, stored.expert_bytes)


def list_names() -> str:
    """Return the names of models to end a list of what else is expected."""
    return f"or a name out of {', '.join(MODELS)}"


def suggest_model(text: object) -> str:
    """Return a question for the name that an unknown text is most like, to end a sentence; empty if none is."""
    return suggest_name(_name_of(text), MODELS) if isinstance(text, str) else ""


def _name_of(text: str) -> str:
    """Return what stands before the keys of a text."""
    return text.partition(":")[0]


def _describe_named(text: str, own: Mapping[str, object]) -> Description:
    """Return the model of a name, with other numbers where they follow it as in a SPEC, or are its own."""
    name, colon, keys = text.partition(":")
    given = {**(values_of_spec(keys) if colon else {}), **own}
    quantization = QUANTIZED.get(name)
    # Weights are as the checkpoint has them, unless others are given; none but models that serve have such.
    stored = {"weights": weights_of_quantization(quantization)} if given.get("serve") is True else {}
    shape = shape_of_document({**MODELS[name], **stored, **given})
    taken = f"nothing says how long sequences of {name} are: {shape.sequence:,} tokens are taken"
    remarks = () if "sequence" in given else (f"{taken}, state another as sequence",)
    return Description(shape, quantization, remarks)
