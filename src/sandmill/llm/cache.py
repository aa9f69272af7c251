"""Recorded replies: a request's content names its file, so that nothing is paid twice and a run can be played again."""

import builtins
import json
from dataclasses import dataclass
from typing import Protocol

from sandmill.errors import StoreError
from sandmill.fingerprint import canonical_json, fingerprint
from sandmill.models.llm import ModelChoice, Prompt, Reply

_NOT_KEPT = {"key", "is_recorded", "value", "problem"}
"""What follows from the rest."""

REQUEST_VERSION = 1
"""Part of every key: raised when the way in which a prompt becomes a request changes."""


class Files(Protocol):
    """What a place for recordings must be able to do; `Store` does it, locally and on S3."""

    def read(self, path: str) -> bytes:
        """Return the whole content."""

    def exists(self, path: str) -> bool:
        """Whether a file is there."""

    def create(self, path: str, content: bytes, *, owner_only: bool = False) -> bool:
        """Put content under a path, whole or not at all, unless something is there."""

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Paths of all files below a folder."""


def request_key(model: str, choice: ModelChoice, prompt: Prompt) -> str:
    """Name a request by all that its answer depends on: model, parameters, messages, schema and its version.

    How it is sent is left out: server, time-outs, and the form in which JSON is asked for.
    """
    identity = {
        "version": REQUEST_VERSION,
        "model": model,
        "temperature": choice.temperature,
        "max_tokens": choice.max_tokens,
        "messages": [message.model_dump() for message in prompt.messages],
        "answer": prompt.answer,
        "answer_version": prompt.answer_version,
        "draw": prompt.draw,
    }
    return fingerprint(identity)


@dataclass(frozen=True)
class Recordings:
    """Complete replies in a store. Errors, refusals and answers that were cut off are never kept.

    Args:
        files: where they lie.
        folder: below which folder.
    """

    files: Files
    folder: str = "llm/replies"

    def keys(self) -> set[str]:
        """Requests whose replies are there now, from one listing: it costs less than to look for each."""
        names = (path.rpartition("/")[2] for path in self.files.list(self.folder))
        return {name.removesuffix(".json") for name in names}

    def find(self, key: str) -> Reply | None:
        """Return the reply to a request, if there is one.

        Raises:
            StoreError: if the file is damaged.
        """
        path = self._path(key)
        if not self.files.exists(path):
            return None
        try:
            kept = json.loads(self.files.read(path))
            return Reply.model_validate({**kept["reply"], "key": key, "is_recorded": True})
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{path}: this recorded reply is damaged. Remove it; it will be asked for again."
            ) from error

    def keep(self, prompt: Prompt, reply: Reply) -> Reply:
        """Record a reply with its request. Of two that race, both go on with the one that was first."""
        content = {
            "role": prompt.role,
            "draw": prompt.draw,
            "messages": [message.model_dump() for message in prompt.messages],
            "reply": reply.model_dump(mode="json", exclude=_NOT_KEPT),
        }
        if self.files.create(self._path(reply.key), canonical_json(content).encode(), owner_only=True):
            return reply
        first = self.find(reply.key)
        return first.model_copy(update={"is_recorded": False, "usage": reply.usage}) if first else reply

    def _path(self, key: str) -> str:
        return f"{self.folder}/{key}.json"
