"""The layout of a command line: a text, or a file that states one."""

from pathlib import Path

# What files that state a layout are called; no layout ends like that.
ENDINGS = (".json", ".py", ".sh", ".txt")


def open_layout(source: str) -> str:
    """Return a layout as it is, or the text of the file that it names; raise InputError of `layout`."""
    if Path(source).suffix.lower() not in ENDINGS:
        return source
    # It brings in numpy, which help does not wait for.
    from tiger.model.text import read_text

    return read_text(Path(source), "layout")
