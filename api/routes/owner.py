"""Who asks."""

from fastapi import Request


def owner_of(request: Request) -> str:
    """Return the name of the key that a request came with, "" where the service has no keys."""
    owner = getattr(request.state, "owner", "")
    return owner if isinstance(owner, str) else ""
