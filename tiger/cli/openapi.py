"""The command `tiger openapi`."""

import json

from tiger.cli import console


def openapi() -> None:
    """Print the OpenAPI document of the REST service as JSON.

    It is that of a service with the settings of this environment, and none is started.
    """
    from tiger.api.app import create_app

    console.emit(f"{json.dumps(create_app().openapi(), ensure_ascii=False, indent=1)}\n")
