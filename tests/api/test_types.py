"""Tests of the types that the page has of the service."""

from typing import Any

from docs.scripts import typescript

PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
THING = {
    "type": "object",
    "description": "Hold a\n\nthing. */",
    "required": ["schema", "rows"],
    "properties": {
        "schema": {"const": "tiger.thing/1"},
        "rows": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Row"}, {"type": "null"}]}},
        "at-most": {"type": ["integer", "string"], "description": "A bound."},
        "pairs": {"type": "array", "items": PAIR},
        "flag": {"enum": [True, 1, None, "x"]},
        "inner": {"type": "object", "properties": {"any": {}}},
    },
    "additionalProperties": True,
}
ASK = {"type": "object", "properties": {"n": {"type": "number"}}}
ROW = {"type": "object", "additionalProperties": {"type": "boolean"}}
BODY = {"oneOf": [{"$ref": "#/components/schemas/Ask"}, {"type": "string"}]}
DOCUMENT = {
    "components": {"schemas": {"Thing": THING, "Row": ROW, "Ask": ASK}},
    "paths": {
        "/things": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": BODY}}},
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                    "202": {"content": {"application/json": {"schema": {"type": "string"}}}},
                    "422": {"content": {"application/json": {"schema": {"type": "integer"}}}},
                },
            }
        }
    },
}
DECLARED = """
export interface Ask {
  n?: number;
}

export type Row = Record<string, boolean>;

/** Hold a thing. * / */
export interface Thing {
  schema: "tiger.thing/1";
  rows: (Row | null)[];
  /** A bound. */
  "at-most"?: number | string;
  pairs?: [number, number][];
  flag?: true | 1 | null | "x";
  inner?: {
    any?: unknown;
  };
  [name: string]: unknown;
}

/** What the body of a request states. */
export interface Requests {
  "POST /things": Ask | string;
}

/** What the body of an answer states, where that is no problem. */
export interface Answers {
  "POST /things": Thing | string;
}
"""


def test_schemas_become_types() -> None:
    """Interfaces for objects, unions for alternatives, literals for constants, and comments for descriptions."""
    assert typescript.declare_types(DOCUMENT) == typescript.HEAD + DECLARED


def test_the_page_has_the_types_of_the_service(document: dict[str, Any]) -> None:
    """`python docs/scripts/typescript.py` writes them again."""
    assert typescript.TYPES.read_text(encoding="utf-8") == typescript.declare_types(document)
