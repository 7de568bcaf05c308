"""The route of previews: what a request states as a picture, answered at once."""

from functools import partial

from fastapi import Request, Response

from tiger.api.routes import views
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import Solving
from tiger.api.routes.uploads import name_uploads, read_uploads
from tiger.api.routes.waiting import run_while_connected
from tiger.api.schemas.jobs import MEDIA_TYPE

# Seconds for a preview. A circuit of 100,000 gates takes 1.4 s on a machine at rest, and graphs at the limits less; the
# first one also waits for a worker to load what it needs, which takes several seconds on a busy machine.
PREVIEW_S = 15.0


class PreviewRoute:
    """Answer requests for previews by the workers, and within the bounds, that small work has."""

    def __init__(self, solving: Solving) -> None:
        self.bodies, self.checks, self.inline = solving.bodies, solving.checks, solving.inline
        self.jobs = solving.jobs

    async def preview(self, request: Request) -> Response:
        """Show what a request states before it is solved: tasks, hardware, a circuit, a model or a cluster.

        The answer is a document that a picture can be drawn from, of at most 2,000 vertices; larger graphs are shown
        by groups of their vertices. Nothing is kept.
        """
        async with self.bodies.read(request) as body:
            owner = owner_of(request)
            await self.jobs.admit(owner)
            check = partial(views.check, uploads=await name_uploads(self.jobs, body, owner))
            await run_while_connected(request, self.checks.check(check, body))
            preview = partial(views.preview, uploads=await read_uploads(self.jobs, body, owner))
            work = self.inline.answer_in_time(preview, body, PREVIEW_S, "what can be shown")
            return Response(await run_while_connected(request, work), media_type=MEDIA_TYPE)
