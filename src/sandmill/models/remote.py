"""Messages between `sandmill serve` and its clients, as JSON. Bytes are base64."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializationInfo,
    model_validator,
)

from sandmill.errors import shorten
from sandmill.models.base import Frozen
from sandmill.models.names import HASH_PATTERN, TaskId
from sandmill.models.rollout import Score
from sandmill.models.run import MOST_SECONDS, Isolation, RunLimits, RunResult

API = 3
"""Version of the messages. A client refuses a server with another one."""
QUEUED_BEAT, STARTED_BEAT = b" ", b"\n"
"""White space that a server sends before a reply: while a run of the request waits, and when all have started."""
DEEPEST_PATH = 32
"""Most parts of a path in a scratch folder."""
LONGEST_PATH_BYTES = 2048
"""Longest path in a scratch folder, in bytes."""
SHORTEST_TOKEN = 16
"""Fewest characters of a token. It must not be guessable."""
MOST_RUNS = 256
"""Most runs in one request."""

_HIDDEN_PARTS = frozenset({"", ".", ".."})


@dataclass
class Contents:
    """Context of an encoding that puts contents beside the JSON, which then holds `mark` in their places."""

    mark: str
    items: list[bytes] = field(default_factory=list)


def _encoded(content: bytes, info: SerializationInfo) -> Any:
    found = info.context
    if not isinstance(found, Contents):
        return b64encode(content).decode()
    found.items.append(content)
    return found.mark


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise ValueError("not base64") from None


def _inner_path(path: str) -> str:
    parts = path.split("/")
    is_encodable = not any("\ud800" <= char <= "\udfff" for char in path)
    if not is_encodable or "\0" in path or not _HIDDEN_PARTS.isdisjoint(parts):
        raise ValueError(f"{shorten(path)!r} is not a relative path without . and ..")
    if len(parts) > DEEPEST_PATH or len(path.encode()) > LONGEST_PATH_BYTES:
        raise ValueError(f"{shorten(path)!r} is too deep or too long")
    return path


Base64 = Annotated[bytes, BeforeValidator(_decoded), PlainSerializer(_encoded, when_used="json")]
InnerPath = Annotated[str, AfterValidator(_inner_path)]
"""Path of a file or folder inside a scratch folder. The agent's code chooses these names."""
Digest = Annotated[str, Field(pattern=HASH_PATTERN)]
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS)]


def limits_above(wanted: RunLimits, most: RunLimits) -> list[str]:
    """Return the names of the limits that exceed those of a server."""
    inf = float("inf")
    pairs = {name: (getattr(wanted, name), getattr(most, name)) for name in RunLimits.model_fields}
    return [
        name
        for name, (want, have) in pairs.items()
        if (inf if want is None else want) > (inf if have is None else have)
    ]


def smallest(limits: Sequence[RunLimits]) -> RunLimits:
    """Return the smallest value of each limit. None is no limit."""
    values = {name: [getattr(one, name) for one in limits] for name in RunLimits.model_fields}
    return RunLimits(**{name: min((v for v in found if v is not None), default=None) for name, found in values.items()})


def is_token(token: str) -> bool:
    """Return whether a token is long enough and can be sent in a header."""
    return len(token) >= SHORTEST_TOKEN and all("!" <= char <= "~" for char in token)


class ScratchEntry(Frozen):
    """A file or a folder of a scratch folder."""

    path: InnerPath
    content: Base64 | None = None
    """None for a folder."""


class ScratchChanges(Frozen):
    """Difference between a scratch folder before and after a run."""

    written: tuple[ScratchEntry, ...] = ()
    removed: tuple[InnerPath, ...] = ()


class PublicUpload(Frozen):
    """All files of a public folder."""

    files: dict[str, Base64]


class PublicReply(Frozen):
    """Name under which runs refer to an uploaded public folder."""

    public: Digest


class RunRequest(Frozen):
    """One run of a request."""

    code: str
    task_id: TaskId | None = None
    """Task of the server whose public files the code sees."""
    public: Digest | None = None
    """Digest of an uploaded public folder, instead of `task_id`."""
    timeout: Seconds | None = None
    """Wall time in seconds. None means the longest that the server allows."""
    limits: RunLimits | None = None
    """None means the limits of the server. No limit may exceed the server's."""
    scratch: tuple[ScratchEntry, ...] | None = None
    """Scratch folder that travels with the request. Its changes are in the reply."""
    scratch_bytes: int = Field(default=64 << 20, ge=0)
    """Most bytes of files of this scratch folder in the reply. Further files are skipped."""

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        if (self.task_id is None) == (self.public is None):
            raise ValueError("expected either task_id or public")
        return self


class RunBatch(Frozen):
    """Body of `POST /v1/runs`."""

    runs: tuple[RunRequest, ...] = Field(min_length=1, max_length=MOST_RUNS)


class RunReply(RunResult):
    """Result of one run."""

    submission: Base64 | None = None
    """Content of submission.csv, if the run exited with 0 and wrote it as a regular file."""
    scratch: ScratchChanges | None = None
    """Changes of a scratch folder that travelled with the request."""

    def result(self) -> RunResult:
        """Return the result alone."""
        return RunResult(**{name: getattr(self, name) for name in RunResult.model_fields})

    @classmethod
    def of(cls, result: RunResult, scratch: ScratchChanges | None = None) -> "RunReply":
        """Make the reply of a result."""
        return cls(**{name: getattr(result, name) for name in RunResult.model_fields}, scratch=scratch)


class RunReplies(Frozen):
    """Results of a batch, in the order of its runs."""

    results: tuple[RunReply, ...]


class ScoreRequest(Frozen):
    """One run whose submission is graded on the final part."""

    code: str
    task_id: TaskId
    timeout: Seconds | None = None
    preset: str = "gap"
    """Reward of the run. A request that names none has the reward of clients that knew no other default."""


class ScoreBatch(Frozen):
    """Body of `POST /v1/scores`."""

    runs: tuple[ScoreRequest, ...] = Field(min_length=1, max_length=MOST_RUNS)


class ScoreReply(Frozen):
    """Score of one run, and the result of the run without its submission. The reply has a list `scores` of them."""

    score: Score
    result: RunReply


class Health(Frozen):
    """Body of `GET /health`. It needs no token, so it says nothing about tasks."""

    status: str
    version: str
    isolation: Isolation
    running: int
    queued: int
    runs: int = 0
    """Runs that have started since the start of the server."""
    abandoned: int = 0
    """Runs among them whose client went away before it had the whole reply."""


class ServerInfo(Frozen):
    """Body of `GET /v1/info`."""

    api: int
    version: str
    backend: str
    isolation: Isolation
    limits: RunLimits
    timeout: float
    """Longest wall time of a run, in seconds."""
    concurrency: int
    queue: int
    max_request_bytes: int
    tasks: int


class Refusal(Frozen):
    """Body of every answer that is an error."""

    detail: str
    problems: tuple[str, ...] = ()
