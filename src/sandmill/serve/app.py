"""The HTTP endpoints of `sandmill serve`."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from sandmill import __version__
from sandmill.errors import InputError, SandmillError, shorten
from sandmill.models import remote
from sandmill.sandbox.wire import json_pieces
from sandmill.serve.gate import RequestGate
from sandmill.serve.ors import add_routes
from sandmill.serve.queue import BatchTooLarge, QueueFull, Ticket
from sandmill.serve.runs import RunService
from sandmill.serve.sessions import RETRY_S, Sessions

_BEAT_S = 0.5
"""Interval of the white space that is sent while runs go on, in seconds. It shows that the server lives."""
_MOST_PROBLEMS = 20
_RETRY = {"retry-after": RETRY_S}

Message = TypeVar("Message", bound=BaseModel)
Reply = TypeVar("Reply", bound=BaseModel)


def make_app(service: RunService, token: str | None, is_stopping: Callable[[], bool]) -> RequestGate:
    """Return the ASGI application of a server. Without a token it answers this machine alone, and runs no batches.

    Raises `InputError` or `AccessDenied` if it shall speak the Open Reward Standard and has no release to grade.
    """
    app = FastAPI(title="sandmill", version=__version__, docs_url=None, redoc_url=None)
    box, queue, settings = service.box, service.queue, service.settings
    _add_errors(app)

    @app.get("/health")
    async def health() -> Response:
        facts = remote.Health(
            status="stopping" if is_stopping() else "ok",
            version=__version__,
            isolation=box.isolation,
            running=queue.running,
            queued=queue.queued,
            runs=queue.started,
            abandoned=queue.abandoned,
        )
        return Response(facts.model_dump_json(), 503 if is_stopping() else 200, media_type="application/json")

    @app.get("/v1/info")
    async def info() -> remote.ServerInfo:
        return remote.ServerInfo(
            api=remote.API,
            version=__version__,
            backend=box.backend,
            isolation=box.isolation,
            limits=box.limits,
            timeout=settings.timeout_s,
            concurrency=queue.concurrency,
            queue=queue.waiting,
            max_request_bytes=settings.max_request_bytes,
            tasks=len(service.tasks),
        )

    @app.post("/v1/runs")
    async def run(request: Request) -> Response:
        with ExitStack() as held:
            batch = await _receive(request, remote.RunBatch, service, held)
            tickets = await asyncio.to_thread(service.submit_runs, batch.runs)
            return _Replies(tickets, "results", service, held.pop_all())

    @app.post("/v1/scores")
    async def score(batch: remote.ScoreBatch) -> Response:
        tickets = await asyncio.to_thread(service.submit_scores, batch.runs)
        return _Replies(tickets, "scores", service, ExitStack())

    @app.post("/v1/grade/{task_id}")
    async def grade(task_id: str, request: Request) -> Response:
        if problem := service.tasks.problem(task_id):
            raise InputError("request", [problem], "Nothing was graded.")
        report = await service.tasks.open(task_id).agrade(await request.body())
        # The exact feedback score would give labels away.
        return Response(report.model_dump_json(exclude={"feedback_score"}), media_type="application/json")

    @app.post("/v1/public")
    async def upload(request: Request) -> remote.PublicReply:
        with ExitStack() as held:
            folder = await _receive(request, remote.PublicUpload, service, held)
            return remote.PublicReply(public=await asyncio.to_thread(service.publics.add, folder.files))

    if settings.sessions is not None:
        add_routes(app, service.tasks, Sessions(box, queue, settings.sessions, settings.timeout_s))
    return RequestGate(app, token=token, most_bytes=settings.max_request_bytes, is_stopping=is_stopping)


async def _receive(request: Request, model: type[Message], service: RunService, held: ExitStack) -> Message:
    """Read a request. Its room is free when `held` is closed.

    Raises `HTTPException` if other requests leave no room for it, and `RequestValidationError` if it is not as
    expected.
    """
    announced = request.headers.get("content-length", "")
    size = int(announced) if announced.isdigit() else service.settings.max_request_bytes
    if not service.queue.requests.try_take(size):
        async for _ in request.stream():
            # A client that still sends would see a broken connection instead of the answer.
            pass
        raise HTTPException(429, "other requests fill the memory", _RETRY)
    held.callback(service.queue.requests.give, size)
    # The gate has bounded its size and its time.
    body = await request.body()
    try:
        return await asyncio.to_thread(model.model_validate_json, body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from None


class _Replies(StreamingResponse, Generic[Reply]):
    """Sends each result when it and all before it have ended. If the client goes away, its runs are cancelled.

    A result that is sent leaves the memory. Runs start in their order, so the first that has not ended never waits for
    room that later ones hold.
    """

    def __init__(self, tickets: Sequence[Ticket[Reply]], field: str, service: RunService, held: ExitStack) -> None:
        self._pending, self._queue, self._held, self._field = deque(tickets), service.queue, held, field
        super().__init__(self._body(), media_type="application/json")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._queue.abandoned += sum(ticket.started.done() for ticket in self._pending)
            for ticket in self._pending:
                ticket.drop()
            self._held.close()

    async def _body(self) -> AsyncIterator[bytes]:
        mark = f'{{"{self._field}":['.encode()
        starting = {asyncio.wrap_future(ticket.started) for ticket in self._pending}
        while self._pending:
            ended = asyncio.wrap_future(self._pending[0].future)
            while not ended.done():
                starting = {one for one in starting if not one.done()}
                waited: set[asyncio.Future[Any]] = {ended, *starting}
                await asyncio.wait(waited, timeout=_BEAT_S, return_when=asyncio.FIRST_COMPLETED)
                yield (
                    remote.STARTED_BEAT
                    if all(ticket.started.done() for ticket in self._pending)
                    else remote.QUEUED_BEAT
                )
            yield remote.STARTED_BEAT
            pieces = await asyncio.to_thread(json_pieces, ended.result())
            yield mark
            for piece in pieces:
                yield piece
            mark = b","
            self._pending.popleft().drop()
        yield b"]}"


def _add_errors(app: FastAPI) -> None:
    def validation(error: RequestValidationError) -> Response:
        problems = [
            f"{'.'.join(map(str, one['loc'][1:])) or 'body'}: {shorten(one['msg'], 200)}"
            for one in error.errors()[:_MOST_PROBLEMS]
        ]
        return _refusal(422, "the request does not have the expected fields", problems)

    answers: dict[type[Exception], Callable[[Any], Response]] = {
        InputError: lambda error: _refusal(422, str(error), [str(problem) for problem in error.problems]),
        SandmillError: lambda error: _refusal(500, str(error)),
        BatchTooLarge: lambda error: _refusal(422, str(error)),
        QueueFull: lambda _: _refusal(429, "the queue is full", headers=_RETRY),
        RequestValidationError: validation,
        HTTPException: lambda error: _refusal(error.status_code, str(error.detail), headers=error.headers),
        Exception: lambda error: _refusal(500, f"the server failed: {type(error).__name__}"),
    }
    for kind, answer in answers.items():

        async def handle(_request: Request, error: Exception, answer: Callable[[Any], Response] = answer) -> Response:
            return answer(error)

        app.add_exception_handler(kind, handle)


def _refusal(
    status: int, detail: str, problems: Sequence[str] = (), headers: Mapping[str, str] | None = None
) -> Response:
    return JSONResponse(remote.Refusal(detail=detail, problems=tuple(problems)).model_dump(), status, headers)
