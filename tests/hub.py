"""A stand-in for a hub of data sets: the requests of huggingface_hub that Sandmill causes, answered from memory."""

import base64
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Repository:
    """Commits, each with all of its files."""

    private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes]) -> str:
        name = hashlib.sha1(repr(sorted(files)).encode() + str(len(self.commits)).encode()).hexdigest()
        self.commits[name] = files
        return name

    @property
    def head(self) -> str:
        return list(self.commits)[-1]


class Hub:
    """The server, with its repositories by name and the requests that it got."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.says = ""
        """If set, every request is refused with this text."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *words: Any) -> None:
                pass

            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body, token = self.rfile.read(size), self.headers.get("Authorization", "")
                hub.requests.append((self.command, self.path, token))
                status, headers, content = hub.answer(self.command, self.path.partition("?")[0], body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = answer  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if self.says:
            return 400, {"X-Error-Message": self.says}, b""
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
            made = self.repositories.setdefault(name, Repository())
            if not made.commits:
                made.commit({".gitattributes": b""})
            return _json({"url": f"{self.address}/datasets/{name}"})
        if path == "/api/validate-yaml":
            return _json({"errors": [], "warnings": []})
        if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._file(*found.groups())
        found = re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/(revision|tree|preupload|commit)/([^/]+))?", path)
        if not found or found[1] not in self.repositories:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        repository, action = self.repositories[found[1]], found[2]
        commit = repository.head if found[3] in (None, "main") else found[3]
        if commit not in repository.commits:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        files = repository.commits[commit]
        if action == "preupload":
            return _json(
                {
                    "files": [
                        {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                        for one in json.loads(body)["files"]
                    ]
                }
            )
        if action == "commit":
            return self._commit(repository, body)
        if action == "tree":
            listed = [{"type": "file", "path": name, "size": len(files[name]), "oid": "0" * 40} for name in files]
            return _json(listed)
        siblings = [{"rfilename": name, "size": len(content)} for name, content in files.items()]
        return _json({"id": found[1], "sha": commit, "private": repository.private, "siblings": siblings})

    def _file(self, name: str, commit: str, path: str) -> tuple[int, dict[str, str], bytes]:
        content = self.repositories[name].commits[commit].get(path)
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        return 200, {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit}, content

    def _commit(self, repository: Repository, body: bytes) -> tuple[int, dict[str, str], bytes]:
        files = dict(repository.commits[repository.head])
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                del files[line["value"]["path"]]
        made = repository.commit(files)
        return _json({"commitOid": made, "commitUrl": f"{self.address}/datasets/a/b/commit/{made}", "success": True})


def _json(value: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()
