"""The model as a plan sees it: layers for microbatches of several sizes, where its shape is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import FileText, find_file, text_of
from tiger.training.models.description import Description, describe_file, describe_model, is_description
from tiger.training.models.gguf_models import ENDING
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT
from tiger.training.models.reading import model_of_document as layers_of_document
from tiger.training.models.reading import read_model
from tiger.training.models.setup import NO_SETUP, TrainingSetup, check_setup
from tiger.training.models.shape import Shape
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts

# Sizes of microbatches that are tried, in sequences.
SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Hold the layers of a microbatch, and what they were made of, None where no shape is known."""

    given: Layers
    described: Description | None = None
    costs: OperationCosts = USUAL_COSTS
    made: dict[tuple[int, TrainingSetup], Layers] = field(default_factory=dict)

    @property
    def shape(self) -> Shape | None:
        """Return the shape that layers are made of, None where it is not known."""
        return None if self.described is None else self.described.shape

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the model's reader took that nobody stated."""
        return () if self.described is None else self.described.remarks

    @property
    def resizable(self) -> bool:
        """Return whether microbatches may have any size; those of a served model may not, as it states their memory."""
        return self.shape is not None and not self.shape.serve

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes that a microbatch may have, in sequences; for layers as given the one that they have."""
        return SIZES if self.resizable else (1 if self.shape is None else self.shape.batch,)

    def layers(self, size: int, setup: TrainingSetup = NO_SETUP) -> Layers:
        """Return the layers of a microbatch of so many sequences, as ranks of a setup hold them.

        Raises InputError that names what the model cannot be trained with.
        """
        check_setup(setup, self.shape)
        if self.described is None:
            return self.given
        if not self.resizable:
            # What a model that serves holds depends on how many ranks share its cache, not on how others learn.
            size, setup = self.described.shape.batch, TrainingSetup(tensor=setup.tensor, sequence=setup.sequence)
            if setup == NO_SETUP and self.costs is USUAL_COSTS:
                return self.given
        key = size, setup
        if key not in self.made:
            shape = replace(self.described.shape, batch=size)
            self.made[key] = replace(self.described, shape=shape).layers(setup=setup, costs=self.costs)
        return self.made[key]

    def with_costs(self, costs: OperationCosts) -> "Model":
        """Return the model with times on another type of device."""
        if self.described is None or costs is self.costs:
            return self
        return Model(self.described.layers(costs=costs), self.described, costs)

    def serve(self, sequences: int | None) -> "Model":
        """Return the model that serves so many sequences at once, itself for None; raise InputError."""
        if sequences is None:
            return self
        if self.described is None:
            reason = "expected none, as only the shape of a transformer tells what a model holds that serves"
            raise InputError("serve", f"{reason}, got {sequences}")
        described = self.described.serve(sequences)
        return Model(described.layers(costs=self.costs), described, self.costs)

    def layers_for(self, setup: TrainingSetup) -> Layers:
        """Return the layers of a microbatch of as many sequences as the model states; raise InputError as `layers`."""
        return self.layers(1 if self.shape is None else self.shape.batch, setup)

    def tokens(self, batch: int, sequence: int | None = None) -> int | None:
        """Return the tokens of so many sequences, of another length where one is given; None where nobody knows.

        A model that serves makes one of each at a time.
        """
        if self.shape is None:
            return None
        return batch if self.shape.serve else batch * (sequence or self.shape.sequence)


def model_of(source: Layers | Path | str | Mapping[str, object] | list[object], sequences: int | None = None) -> Model:
    """Return a model in any of the forms that a placement takes, which serves so many sequences if any are given.

    Raises InputError of `model` or below, and of `serve` for layers of a table.
    """
    if isinstance(source, Layers):
        return Model(source).serve(sequences)
    if isinstance(source, str) and is_description(source):
        return model_of_document(source, sequences=sequences)
    if isinstance(source, str | Path):
        return _model_of_file(source, sequences=sequences)
    if isinstance(source, Mapping | list):
        return model_of_document(source if isinstance(source, list) else dict(source), sequences=sequences)
    raise TypeError(f"expected model as Layers, a path, a SPEC or a document, got {type(source).__name__}")


def model_of_document(document: object, max_layers: int = LAYER_LIMIT, sequences: int | None = None) -> Model:
    """Return the model of a document or a SPEC as `model_of` does; no string is opened as a file."""
    if (described := describe_model(document, sequences)) is not None:
        return Model(described.layers(max_layers), described)
    file = find_file("model", document)
    if file is not None:
        return _model_of_file(file, max_layers, sequences)
    return Model(layers_of_document(document, max_layers)).serve(sequences)


def _model_of_file(source: Path | str | FileText, max_layers: int = LAYER_LIMIT, sequences: int | None = None) -> Model:
    """Return the model of a file or its text, of which JSON may state a shape."""
    name = source.file if isinstance(source, FileText) else str(source)
    ending = Path(name).suffix.lower()
    if ending == ENDING and not isinstance(source, FileText):
        described = describe_file(Path(source))
        return Model(described.layers(max_layers), described).serve(sequences)
    if ending != ".json":
        return Model(read_model(source, max_layers)).serve(sequences)
    return model_of_document(read_json(text_of(source, "model"), "model"), max_layers, sequences)
