"""Which tools that tables compare with are installed."""

from importlib.util import find_spec


def is_installed(package: str) -> bool:
    """Return whether a package can be imported; of one inside others these may be missing, too."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
