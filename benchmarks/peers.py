"""Which tools that tables compare with are installed."""

from importlib.util import find_spec


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, where one that holds it may be missing as well."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
