"""YAML as text: lists, objects and values with their lines, without anchors and aliases."""

from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.wording import describe

FIELD = "topology"
# Lists, objects and values of a file: as many as a million hosts in blocks of one take.
VALUE_LIMIT = 1 << 22
# A list of topologies with lists of tori with regions with values is ten deep.
DEPTH_LIMIT = 16


@dataclass(frozen=True, slots=True)
class Value:
    """Hold a value of YAML and its line: a text, a list or an object."""

    line: int
    content: "str | list[Value] | dict[str, Value]"

    def error(self, reason: str) -> InputError:
        """Return an error at this line."""
        return InputError(FIELD, f"line {self.line}: {reason}")

    def as_list(self, what: str) -> "list[Value]":
        """Return a list of something."""
        if not isinstance(self.content, list) or not self.content:
            raise self.error(f"expected a list of {what}")
        return self.content

    def as_object(self, what: str) -> "dict[str, Value]":
        """Return an object that states something."""
        if not isinstance(self.content, dict):
            raise self.error(f"expected an object that states {what}")
        return self.content

    def as_text(self, what: str) -> str:
        """Return the text of something."""
        if not isinstance(self.content, str):
            raise self.error(f"expected {what} as text")
        return self.content


def read_value(text: str) -> Value:
    """Return the content of a text of one document without aliases, so that nothing is read twice.

    Raises InputError of `topology` with the line at fault.
    """
    import yaml  # so that other files do not wait for it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root = Value(1, [])
    above, keys = [root], [""]
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            where = Value(event.start_mark.line + 1, "")
            if getattr(event, "anchor", None) is not None:
                raise where.error("expected values without anchors and aliases, got one")
            if count > VALUE_LIMIT or len(above) > DEPTH_LIMIT:
                raise where.error(f"expected at most {VALUE_LIMIT} values, {DEPTH_LIMIT} inside each other, got more")
            if isinstance(event, yaml.CollectionEndEvent):
                above.pop()
                keys.pop()
            elif isinstance(event, yaml.CollectionStartEvent):
                value = Value(where.line, {} if isinstance(event, yaml.MappingStartEvent) else [])
                _add(above[-1], keys, value)
                above.append(value)
                keys.append("")
            elif isinstance(event, yaml.ScalarEvent):
                _add(above[-1], keys, Value(where.line, event.value))
    except UnicodeEncodeError:
        raise InputError(FIELD, "expected YAML, got text that is no Unicode") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = "" if mark is None else f"line {mark.line + 1}: "
        raise InputError(
            FIELD, f"{at}expected YAML, got {describe(getattr(error, 'problem', None) or 'a fault')}"
        ) from None
    documents = root.content
    if not isinstance(documents, list) or not documents:
        raise InputError(FIELD, "expected YAML, got none")
    if len(documents) > 1:
        raise documents[1].error("expected one document, got another")
    return documents[0]


def _add(owner: Value, keys: list[str], value: Value) -> None:
    """Add a value to a list, or to an object as a key first and then as what stands under it."""
    if isinstance(owner.content, list):
        owner.content.append(value)
    elif isinstance(owner.content, dict):
        if keys[-1]:
            owner.content[keys[-1]] = value
            keys[-1] = ""
        else:
            key = value.as_text("a key")
            if key in owner.content or not key:
                raise value.error(f"expected different keys in an object, got {describe(key)}")
            keys[-1] = key
