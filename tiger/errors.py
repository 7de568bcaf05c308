"""The one exception that callers branch on: input that cannot be used."""


class InputError(ValueError):
    """Report input that is malformed, and name the field at fault.

    `field` is a JSON pointer without its leading slash (`tasks/edges/3/weight`, `topology`, `pinned/t1`); `reason`
    states what was expected and what was found. Well-formed input that has no solution is a result, never this.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str]]:
        """Rebuild from both parts, so that the error survives the way out of a worker process."""
        return type(self), (self.field, self.reason)


def pin_field(name: object) -> str:
    """Return the field of what is pinned by a name, escaped as RFC 6901 asks."""
    return f"pinned/{str(name).replace('~', '~0').replace('/', '~1')}"
