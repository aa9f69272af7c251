"""Recorded replies, named by the hash of their request: no request is paid twice and a run can be replayed."""

import builtins
import json
from dataclasses import dataclass
from typing import Protocol

from sandmill.errors import StoreError
from sandmill.fingerprint import canonical_json, fingerprint
from sandmill.models.llm import ModelChoice, Prompt, Reply

_NOT_RECORDED = {"key", "is_recorded", "value", "problem"}
"""Fields of a reply that follow from its other fields and from the file's name."""

REQUEST_VERSION = 1
"""Part of every key. Raise it when the same prompt is turned into another request."""


class Files(Protocol):
    """Storage for recordings and receipts. `Store` implements it for local folders and S3."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""

    def create(self, path: str, content: bytes, *, owner_only: bool = False) -> bool:
        """Write a file atomically unless it exists. Return whether it was written."""

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Return the paths of all files below a folder."""


def request_key(model: str, choice: ModelChoice, prompt: Prompt) -> str:
    """Hash all that an answer depends on: model, parameters, messages, schema and draw.

    Server, time-outs and the answer form are left out: they change how a request is sent, not what it asks for.
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
    """Complete replies in a folder of a store. Errors, refusals and truncated answers are never recorded."""

    files: Files
    folder: str = "llm/replies"

    def find(self, key: str) -> Reply | None:
        """Return the recorded reply to a request, or None. A damaged file is a `StoreError`."""
        path = f"{self.folder}/{key}.json"
        if not self.files.exists(path):
            return None
        try:
            recorded = json.loads(self.files.read(path))
            return Reply.model_validate({**recorded["reply"], "key": key, "is_recorded": True})
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: damaged recording. Delete it; the model will be asked again.") from error

    def add(self, prompt: Prompt, reply: Reply) -> Reply:
        """Record a reply with its request and return it. If another process was first, return that reply."""
        content = {
            "role": prompt.role,
            "draw": prompt.draw,
            "messages": [message.model_dump() for message in prompt.messages],
            "reply": reply.model_dump(mode="json", exclude=_NOT_RECORDED),
        }
        if self.files.create(f"{self.folder}/{reply.key}.json", canonical_json(content).encode(), owner_only=True):
            return reply
        first = self.find(reply.key)
        return first.model_copy(update={"is_recorded": False, "usage": reply.usage}) if first else reply
