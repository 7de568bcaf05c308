"""How values of documents are described in messages, and how names are made."""

from numbers import Integral, Real

# Separates a machine from what is inside it in the name of a node, as in n03/core5.
INSIDE = "/"
# What every machine calls itself, for one whose description has no name.
LOCALHOST = "localhost"
_WORDS = {type(None): "null", list: "a list", tuple: "a tuple", dict: "an object"}


def describe(value: object, width: int = 60) -> str:
    """Describe a value in a few printable words, text cut to `width` characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= width else f"{value[:width]}..")
    if not isinstance(value, Real):
        return _WORDS.get(type(value), f"a value of type {type(value).__name__}")
    if isinstance(value, Integral) and int(value).bit_length() > 200:
        return "a number of more than 60 digits"
    return str(value)
