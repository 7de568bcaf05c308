"""Shapes of transformers as documents and as SPEC."""

import pytest

from tiger.errors import InputError
from tiger.training.models.description import describe_model
from tiger.training.models.shape import Shape
from tiger.training.models.spec import SYNTAX, shape_of_document

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3}
SPEC = "transformer:" + ",".join(f"{key}={value}" for key, value in SMALL.items())


def test_a_spec_and_a_document_state_the_same():
    """Numbers, truth values and words."""
    more = ",gated=true,tied=false,serve=true,dtype=fp32,attention=full,flops=3.12e14,batch=3"
    more += ",experts=4,top_k=2,ffn=12,kv_heads=2"
    stated = {"dtype": "fp32", "attention": "full", "flops": 3.12e14, "experts": 4, "top_k": 2}
    stated |= {"gated": True, "tied": False, "serve": True, "batch": 3, "ffn": 12, "kv_heads": 2}
    assert _shape_of(SPEC + more) == shape_of_document(SMALL | stated) == Shape(**SMALL, **stated)


def test_blanks_around_keys_do_not_count():
    """As a shell may leave them."""
    assert _shape_of(SPEC.replace(",", " , ").replace("=", " = ")) == Shape(**SMALL)


def test_the_syntax_that_messages_show_is_valid():
    """It is an example."""
    assert _shape_of(SYNTAX).layers == 24


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("transformer:", ""),
        ("transformer:24", ""),
        (SPEC + ",", ""),
        (SPEC + ",layers=3", ""),
        (SPEC + ",depth=3", ""),
        ("transformer:layers=2", "/hidden"),
        (SPEC + ",batch=", "/batch"),
        (SPEC + ",batch=2.0", "/batch"),
        (SPEC + ",batch=1e3", "/batch"),
        (SPEC + ",batch=two", "/batch"),
        (SPEC + ",batch=-1", "/batch"),
        (SPEC + ",batch=" + "9" * 10_000, "/batch"),
        (SPEC + ",flops=inf", "/flops"),
        (SPEC + ",gated=yes", "/gated"),
        (SPEC + ",batch=²", "/batch"),
    ],
)
def test_a_bad_spec_is_named(spec, field):
    """Parts without a value, unknown, repeated and missing keys, and values of another type."""
    with pytest.raises(InputError) as caught:
        _shape_of(spec)
    assert caught.value.field == f"model/transformer{field}"


@pytest.mark.parametrize(
    ("document", "field"),
    [([], ""), (None, ""), ({}, "/layers"), (SMALL | {"": 1}, ""), (SMALL | {"heads": [4]}, "/heads")],
)
def test_a_bad_document_is_named(document, field):
    """Other types, and keys that are missing or unknown."""
    with pytest.raises(InputError) as caught:
        shape_of_document(document)
    assert caught.value.field == f"model/transformer{field}"


def _shape_of(spec: str) -> Shape:
    """Return the shape that a SPEC states."""
    described = describe_model(spec)
    assert described is not None
    return described.shape
