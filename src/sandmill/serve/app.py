"""The HTTP endpoints of `sandmill serve`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from sandmill import __version__
from sandmill.errors import InputError, SandmillError, shorten
from sandmill.models.remote import (
    API,
    QUEUED_BEAT,
    STARTED_BEAT,
    Health,
    PublicReply,
    PublicUpload,
    Refusal,
    RunBatch,
    RunReplies,
    ScoreBatch,
    ScoreReplies,
    ServerInfo,
)
from sandmill.serve.folders import ScratchBusy, ScratchFull
from sandmill.serve.gate import RequestGate
from sandmill.serve.queue import BatchTooLarge, QueueFull, Ticket
from sandmill.serve.runs import RunService, UnknownPublic

_BEAT_S = 0.5
"""Interval of the white space that is sent while runs go on, in seconds. It shows that the server lives."""
_MOST_PROBLEMS = 20
_RETRY_SCRATCH_S = 10

Reply = TypeVar("Reply")


def make_app(service: RunService, token: str, is_stopping: Callable[[], bool]) -> RequestGate:
    """Return the ASGI application of a server."""
    app = FastAPI(title="sandmill", version=__version__, docs_url=None, redoc_url=None)
    _add_errors(app)
    _add_facts(app, service, is_stopping)
    _add_runs(app, service)
    _add_folders(app, service)
    if service.settings.srun_root:
        from sandmill.serve.srun import add_srun

        add_srun(app, service, service.settings.srun_root)
    return RequestGate(app, token=token, most_bytes=service.settings.max_request_bytes, is_stopping=is_stopping)


def _add_facts(app: FastAPI, service: RunService, is_stopping: Callable[[], bool]) -> None:
    box, queue, settings = service.box, service.queue, service.settings

    @app.get("/health")
    async def health() -> Response:
        status = "stopping" if is_stopping() else "ok"
        facts = Health(
            status=status,
            version=__version__,
            isolation=box.isolation,
            running=queue.running,
            queued=queue.queued,
        )
        return _json(facts, 503 if is_stopping() else 200)

    @app.get("/v1/info")
    async def info() -> ServerInfo:
        return ServerInfo(
            api=API,
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


def _add_runs(app: FastAPI, service: RunService) -> None:
    @app.post("/v1/runs")
    async def run(batch: RunBatch) -> StreamingResponse:
        tickets = await asyncio.to_thread(service.submit_runs, batch.runs)
        return _stream(tickets, lambda replies: RunReplies(results=replies))

    @app.post("/v1/scores")
    async def score(batch: ScoreBatch) -> StreamingResponse:
        tickets = await asyncio.to_thread(service.submit_scores, batch.runs)
        return _stream(tickets, lambda replies: ScoreReplies(scores=replies))

    @app.post("/v1/grade/{task_id}")
    async def grade(task_id: str, request: Request) -> Response:
        if problem := service.tasks.problem(task_id):
            raise InputError("request", [problem], "Nothing was graded.")
        submission = await request.body()
        report = await service.tasks.open(task_id).agrade(submission)
        # The exact feedback score would give labels away.
        return Response(report.model_dump_json(exclude={"feedback_score"}), media_type="application/json")


def _add_folders(app: FastAPI, service: RunService) -> None:
    @app.post("/v1/public")
    async def upload(folder: PublicUpload) -> PublicReply:
        return PublicReply(public=await asyncio.to_thread(service.publics.add, folder.files))

    @app.delete("/v1/scratch/{scratch_id}", status_code=204)
    async def delete(scratch_id: str) -> Response:
        was_there = await asyncio.to_thread(service.scratches.delete, scratch_id)
        return Response(status_code=204) if was_there else _refusal(404, "no such scratch folder")


def _stream(tickets: Sequence[Ticket[Reply]], collect: Callable[[tuple[Reply, ...]], BaseModel]) -> StreamingResponse:
    """Answer when all runs have ended. If the client goes away, its runs are cancelled."""

    async def body() -> AsyncIterator[bytes]:
        try:
            waiting = {asyncio.wrap_future(ticket.future) for ticket in tickets}
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=_BEAT_S)
                if waiting:
                    yield STARTED_BEAT if all(ticket.has_started for ticket in tickets) else QUEUED_BEAT
            replies = tuple(ticket.future.result() for ticket in tickets)
            yield await asyncio.to_thread(lambda: collect(replies).model_dump_json().encode())
        finally:
            for ticket in tickets:
                ticket.cancel.set()

    return StreamingResponse(body(), media_type="application/json")


def _add_errors(app: FastAPI) -> None:
    answers: dict[type[Exception], Callable[[Any], Response]] = {
        InputError: lambda error: _refusal(422, str(error), [str(problem) for problem in error.problems]),
        SandmillError: lambda error: _refusal(500, str(error)),
        BatchTooLarge: lambda error: _refusal(422, str(error)),
        QueueFull: lambda error: _refusal(429, str(error), retry_after_s=error.retry_after_s),
        UnknownPublic: lambda _: _refusal(404, "unknown public folder: upload it to /v1/public first"),
        ScratchBusy: lambda _: _refusal(409, "another run uses this scratch folder"),
        ScratchFull: lambda _: _refusal(429, "too many scratch folders", retry_after_s=_RETRY_SCRATCH_S),
        RequestValidationError: _validation_refusal,
        HTTPException: lambda error: _refusal(error.status_code, str(error.detail)),
        Exception: lambda error: _refusal(500, f"the server failed: {type(error).__name__}"),
    }
    for kind, answer in answers.items():

        async def handle(_request: Request, error: Exception, answer: Callable[[Any], Response] = answer) -> Response:
            return answer(error)

        app.add_exception_handler(kind, handle)


def _validation_refusal(error: RequestValidationError) -> Response:
    found = [
        f"{'.'.join(map(str, one['loc'][1:])) or 'body'}: {shorten(one['msg'], 200)}"
        for one in error.errors()[:_MOST_PROBLEMS]
    ]
    return _refusal(422, "the request does not have the expected fields", found)


def _refusal(status: int, detail: str, problems: Sequence[str] = (), retry_after_s: int | None = None) -> Response:
    headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
    body = Refusal(detail=detail, problems=tuple(problems)).model_dump()
    return JSONResponse(body, status, headers=headers)


def _json(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status, media_type="application/json")
