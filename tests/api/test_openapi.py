"""The OpenAPI document, of which clients are generated."""

from collections.abc import Iterator
from typing import Any

import pytest

from tiger.api.app import create_app
from tiger.api.middleware.keys import SCHEMES, parse
from tiger.api.routes.page import ROUTES
from tiger.api.routes.readiness import NEEDS
from tiger.api.routes.requests import KINDS
from tiger.api.schemas.closed import document_requests
from tiger.api.settings import Settings

Schema = dict[str, Any]
PROBLEM = {"$ref": "#/components/schemas/ProblemBody"}
# What is worked out or quoted, and describes no value.
QUOTED = {"example", "examples", "default"}


@pytest.fixture(scope="module")
def bare() -> Schema:
    """Return the document of a service with keys, without the models of requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiger.api.openapi.document_requests", lambda _: {})
        return create_app(Settings(workers=1, api_keys=parse("k" * 16))).openapi()


def walk(part: object, path: str = "#") -> Iterator[tuple[str, Schema]]:
    """Yield every object of a document with its place, what is quoted left out."""
    if isinstance(part, dict):
        yield path, part
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, value in inner:
        if name not in QUOTED or path.endswith("/properties"):
            yield from walk(value, f"{path}/{name}")


def kinds(schema: Schema) -> set[type]:
    """Return the types of the values that an enum lists."""
    return {type(value) for value in schema.get("enum", [])}


def test_bug_every_route_is_in_the_index_and_says_whether_it_can_be_used(document: Schema) -> None:
    """Whoever asks what there is, or whether the service is ready, hears of all of it."""
    first = {f"/{path.split('/')[1]}" for path in document["paths"]}
    assert first - {*ROUTES} == set()
    assert first - NEEDS.keys() == {"/healthz", "/metrics", "/readyz", "/solvers", "/topologies"}


def test_bug_no_schema_has_several_types(document: Schema) -> None:
    """Generators left out operations with `{"type": ["string", "number", "array"]}`, and lists of nothing known."""
    several = [path for path, part in walk(document) if isinstance(part.get("type"), list)]
    bare = [path for path, part in walk(document) if part.get("type") == "array" and "items" not in part]
    assert (several, bare) == ([], [])


def test_bug_no_enum_has_values_of_several_types(document: Schema) -> None:
    """Generators left out operations with `{"enum": [true, false, 0, 1]}`; each says which type it has."""
    enums = {path: part for path, part in walk(document) if isinstance(part.get("enum"), list)}
    assert len(enums) > 20
    assert [path for path, part in enums.items() if len(kinds(part)) > 1 or "type" not in part] == []


def test_bug_every_model_stands_once_as_a_component(document: Schema) -> None:
    """Generators named 354 copies apart, or none at all."""
    schemas = document["components"]["schemas"]
    homes = {f"#/components/schemas/{name}" for name in schemas}
    models = [path for path, part in walk(document) if isinstance(part.get("properties"), dict)]
    assert set(models) <= homes
    titles = [schema["title"] for schema in schemas.values()]
    assert len(titles) == len(set(titles))


def test_every_reference_is_to_a_component(document: Schema) -> None:
    """None leads nowhere, and no component is left that nothing refers to."""
    named = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert {part["$ref"] for _, part in walk(document) if isinstance(part.get("$ref"), str)} == named


@pytest.mark.long
def test_requests_and_answers_have_different_names(bare: Schema) -> None:
    """Of two components of one name, one would be lost."""
    answers = bare["components"]["schemas"]
    assert "ProblemBody" in answers
    assert answers.keys() & document_requests(KINDS).keys() == set()


def test_operations_have_short_names(document: Schema) -> None:
    """Generated functions are called by them."""
    names = [operation["operationId"] for verbs in document["paths"].values() for operation in verbs.values()]
    assert {"assign", "place", "plan", "show_job", "list_jobs", "figures", "readyz", "readyz_workers"} <= set(names)
    assert len(names) == len(set(names))


def test_bug_every_error_is_the_problem(document: Schema) -> None:
    """As `application/problem+json`, of every operation."""
    errors = [
        response["content"]
        for verbs in document["paths"].values()
        for operation in verbs.values()
        for status, response in operation["responses"].items()
        if status >= "400"
    ]
    assert len(errors) > 150
    assert [content for content in errors if content != {"application/problem+json": {"schema": PROBLEM}}] == []


def test_bug_every_body_is_a_request_by_name(document: Schema) -> None:
    """So that generators have a model of each."""
    posts = [verbs["post"] for verbs in document["paths"].values() if "post" in verbs]
    bodies = [post["requestBody"] for post in posts if "requestBody" in post]
    schemas = [
        body["content"]["application/json"]["schema"] for body in bodies if "application/json" in body["content"]
    ]
    named = {each["$ref"].rpartition("/")[2] for schema in schemas for each in schema.get("oneOf", [schema])}
    assert named == {kind.__name__ for kind in KINDS}


def test_bug_the_document_always_says_how_a_key_is_sent(document: Schema, bare: Schema) -> None:
    """It is needed where the operator has set some; health never needs one."""
    assert document["security"] == [{"key": []}, {"bearer": []}, {}]
    assert bare["security"] == [{"key": []}, {"bearer": []}]
    for found in (document, bare):
        assert found["components"]["securitySchemes"] == SCHEMES
        open_to_all = {path for path, verbs in found["paths"].items() if verbs.get("get", {}).get("security") == []}
        assert open_to_all == {"/healthz", "/readyz", "/readyz/database", "/readyz/workers"}
