"""The routes of rebalancers: begin one, look at it, have it take a step, and forget it."""

from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Request, Response

from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes import idempotency, rebalancing
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import Solving
from tiger.api.routes.waiting import run_while_connected
from tiger.api.schemas.jobs import MEDIA_TYPE
from tiger.api.schemas.rebalancers import encode_rebalancer, location
from tiger.api.seams.job import Jobs
from tiger.api.seams.rebalancer import NewRebalancer, Rebalancers, RebalancerStep, StoredRebalancer

# Seconds for a first plan and for a step. A plan of 128 layers on 8 devices takes a tenth of a second, a step of 4,000
# layers on 64 devices 1.5 s.
BEGIN_S, STEP_S = 15.0, 15.0
RebalancerId = Annotated[
    str, Path(description="The id of a rebalancer, as its `Location` ends.", examples=["a4c6f1de"])
]


class RebalancerRoutes:
    """Answer requests about the rebalancers of their owner, by the workers and within the bounds of small work.

    Those of other owners are as unknown as rebalancers that never were.
    """

    def __init__(self, solving: Solving) -> None:
        self.bodies, self.checks, self.inline = solving.bodies, solving.checks, solving.inline
        self._jobs: Jobs = solving.jobs

    @property
    def rebalancers(self) -> Rebalancers:
        """Return what keeps them, which is there once the service has started."""
        return self._jobs.rebalancers

    async def begin(self, request: Request) -> Response:
        """Begin to follow a pipeline whose layers change: find its first plan, or take the one in use.

        The rebalancer is kept until it has taken no step for a week, or for as long as the operator has set. The same
        Idempotency-Key with the same body is the same rebalancer.
        """
        async with self.bodies.read(request) as body:
            key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
            await run_while_connected(request, self.checks.check(rebalancing.check, body))
            owner = owner_of(request)
            known = None if key is None else await self.rebalancers.find(owner, key, body)
            if known is None:
                await self._jobs.admit(owner)
                expected = "a first plan, or one that is stated as `plan`,"
                work = self.inline.answer_in_time(rebalancing.begin, body, BEGIN_S, expected)
                state = await run_while_connected(request, work)
                known = await self.rebalancers.insert(NewRebalancer(body=body, state=state, owner=owner, key=key))
        # For the audit.
        request.state.made = known.id
        return Response(encode_rebalancer(known), HTTPStatus.CREATED, {"Location": location(known)}, MEDIA_TYPE)

    async def show(self, request: Request, rebalancer_id: RebalancerId) -> Response:
        """Return the plan in use and the times of layers as last measured."""
        return Response(encode_rebalancer(await self._find(request, rebalancer_id)), media_type=MEDIA_TYPE)

    async def step(self, request: Request, rebalancer_id: RebalancerId) -> Response:
        """Tell a rebalancer what layers or stages took, that a device is lost, or what time an iteration may take.

        It answers with its decision, which counts from then on: the plan stays, or layers move. The same
        Idempotency-Key with the same body is the same step, as long as no more than a hundred others came after it. Of
        two steps at the same time one is refused, as it is of a plan that is in use no longer.
        """
        async with self.bodies.read(request) as body:
            key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
            await run_while_connected(request, self.checks.check(rebalancing.check_step, body))
            before = await self._find(request, rebalancer_id)
            answer = await self._find_answer(before, key, body)
            if answer is None:
                answer = await self._take_step(request, before, body, key)
        return Response(answer, media_type=MEDIA_TYPE)

    async def delete(self, request: Request, rebalancer_id: RebalancerId) -> Response:
        """Forget a rebalancer."""
        if not await self.rebalancers.delete(rebalancer_id, owner_of(request)):
            raise _refuse_unknown()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _take_step(self, request: Request, before: StoredRebalancer, body: bytes, key: str | None) -> bytes:
        """Return the answer to a step, or raise RefusedError (409) where another one came first."""
        await self._jobs.admit(before.owner)
        call = partial(rebalancing.take_step, before.body, before.state)
        work = self.inline.answer_in_time(call, body, STEP_S, "a step that is decided upon")
        answer, state = await run_while_connected(request, work)
        step = RebalancerStep(before=before, body=body, answer=answer, state=state, key=key)
        if await self.rebalancers.take_step(step):
            return answer
        # It is gone, or the other step was this one, which the client has sent again.
        await self._find(request, before.id)
        known = await self._find_answer(before, key, body)
        if known is None:
            detail = "Another step came first: look at the plan that is in use now, and tell what it takes."
            raise RefusedError(Problem(HTTPStatus.CONFLICT, detail, headers={"Location": location(before)}))
        return known

    async def _find(self, request: Request, rebalancer_id: str) -> StoredRebalancer:
        """Return the rebalancer, or raise RefusedError (404)."""
        found = await self.rebalancers.get(rebalancer_id, owner_of(request))
        if found is None:
            raise _refuse_unknown()
        return found

    async def _find_answer(self, before: StoredRebalancer, key: str | None, body: bytes) -> bytes | None:
        """Return the answer to the step of a key, None where there was none."""
        return None if key is None else await self.rebalancers.find_answer(before.id, key, body)


def _refuse_unknown() -> RefusedError:
    """Return the refusal of an id that is of no rebalancer, or of another owner's."""
    return RefusedError(Problem(404, "There is no such rebalancer, or not any more."))
