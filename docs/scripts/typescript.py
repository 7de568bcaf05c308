"""Write the types of the REST service for its page again: `python docs/scripts/typescript.py [FILE]`.

Types come from the OpenAPI document, so that an editor or a checker tells where the page and the service differ. The
page is plain JavaScript and imports them in comments: `@type {import("./types").Report}`.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import cast

from tiger.api.app import create_app
from tiger.api.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TYPES = ROOT / "api" / "page" / "types.d.ts"
HEAD = "// Written by `python docs/scripts/typescript.py` from the OpenAPI document of the service: do not edit.\n"
WIDTH = 120
SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
# Pairs and triples are tuples; what has a longer fixed length is a list.
LONGEST_TUPLE = 3
JSON = "application/json"
Schema = Mapping[str, object]


def main() -> int:
    """Write the file."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else TYPES
    path.write_text(declare_types(create_app(Settings()).openapi()), encoding="utf-8")
    return 0


def declare_types(document: Schema) -> str:
    """Return the types of all schemas of a document, and what every operation takes and answers."""
    schemas = cast(Mapping[str, Schema], _at(document, "components", "schemas"))
    operations = list(_operations(document))
    bodies = [(name, _type(taken)) for name, taken, _ in operations if taken]
    answers = [(name, _union(map(_type, given))) for name, _, given in operations]
    parts = [_declare(name, schema) for name, schema in sorted(schemas.items())]
    parts.append(_list_operations("Requests", "What the body of a request states.", bodies))
    parts.append(_list_operations("Answers", "What the body of an answer states, where that is no problem.", answers))
    return HEAD + "".join(f"\n{part}\n" for part in parts)


def _operations(document: Schema) -> Iterator[tuple[str, Schema, list[Schema]]]:
    """Yield the name of every operation, the schema of its body, empty without one, and those of its good answers."""
    for path, verbs in cast(Mapping[str, Mapping[str, Schema]], document["paths"]).items():
        for verb, operation in verbs.items():
            given = [
                cast(Schema, schema)
                for status, response in cast(Mapping[str, Schema], operation["responses"]).items()
                if status.startswith("2") and (schema := _at(response, "content", JSON, "schema"))
            ]
            yield f"{verb.upper()} {path}", _at(operation, "requestBody", "content", JSON, "schema"), given


def _at(schema: Schema, *names: str) -> Schema:
    """Return what lies inside a schema under some names, one inside the other; an empty schema where nothing does."""
    for name in names:
        schema = cast(Schema, schema.get(name, {}))
    return schema


def _declare(name: str, schema: Schema) -> str:
    """Return the declaration of a named schema: an interface for an object, a type for anything else."""
    comment = _comment(schema, "")
    if "properties" in schema:
        return f"{comment}export interface {_identifier(name)} {_object(schema, '')}"
    return f"{comment}export type {_identifier(name)} = {_type(schema)};"


def _list_operations(name: str, comment: str, entries: Sequence[tuple[str, str]]) -> str:
    """Return the interface that has a type for every operation by its name."""
    members = "".join(f'  "{operation}": {stated};\n' for operation, stated in sorted(entries))
    return f"/** {comment} */\nexport interface {name} {{\n{members}}}"


def _type(schema: Schema, indent: str = "") -> str:
    """Return the type that a schema describes."""
    if "$ref" in schema:
        return _identifier(str(schema["$ref"]).rpartition("/")[2])
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return _union(map(_literal, cast(list[object], schema["enum"])))
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return _union(_type(each, indent) for each in cast(list[Schema], schema[choice]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return _union(_type({**schema, "type": each}, indent) for each in kind)
    if kind == "array":
        return _array(schema, indent)
    if kind == "object":
        return _object(schema, indent)
    return SCALARS.get(str(kind), "unknown")


def _array(schema: Schema, indent: str) -> str:
    """Return the type of a list, or of a tuple where its length is given and short."""
    item = _type(_at(schema, "items"), indent)
    length = schema.get("maxItems")
    if isinstance(length, int) and length == schema.get("minItems") and length <= LONGEST_TUPLE:
        return f"[{', '.join([item] * length)}]"
    several = {"anyOf", "oneOf", "enum"} & _at(schema, "items").keys() or isinstance(
        _at(schema, "items").get("type"), list
    )
    return f"({item})[]" if several else f"{item}[]"


def _object(schema: Schema, indent: str) -> str:
    """Return the type of an object, with a line for every property."""
    further = schema.get("additionalProperties")
    inner = f"{indent}  "
    if "properties" not in schema:
        return f"Record<string, {_type(further, indent) if isinstance(further, Mapping) else 'unknown'}>"
    required = cast(list[str], schema.get("required", []))
    lines = [
        f"{_comment(each, inner)}{inner}{_key(name)}{'' if name in required else '?'}: {_type(each, inner)};\n"
        for name, each in cast(Mapping[str, Schema], schema["properties"]).items()
    ]
    if further is True:
        lines.append(f"{inner}[name: string]: unknown;\n")
    return f"{{\n{''.join(lines)}{indent}}}"


def _comment(schema: Schema, indent: str) -> str:
    """Return the description of a schema as a comment above its declaration, nothing where it has none."""
    text = " ".join(str(schema.get("description", "")).split()).replace("*/", "* /")
    if not text:
        return ""
    if len(text) + len(indent) <= WIDTH - len("/**  */"):
        return f"{indent}/** {text} */\n"
    lines = wrap(text, WIDTH - len(indent) - len(" * "), break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}{line}\n" for line in ("/**", *(f" * {line}" for line in lines), " */"))


def _union(types: Iterator[str] | Sequence[str]) -> str:
    """Return the union of some types, each once; that of none is unknown."""
    return " | ".join(dict.fromkeys(types)) or "unknown"


def _literal(value: object) -> str:
    """Return the type of one value alone."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return f'"{value}"' if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    """Return the name of a property, between quotes where it is no identifier."""
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else f'"{name}"'


def _identifier(name: str) -> str:
    """Return the name of a schema as one of a type."""
    return re.sub(r"\W", "_", name)


if __name__ == "__main__":
    sys.exit(main())
