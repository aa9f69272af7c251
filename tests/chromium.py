"""Drive a headless Chromium over a pipe: open a page, press keys, look at what it says and how it looks."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
)
_PATIENCE_S = 120.0
_PROBLEMS = ("Runtime.exceptionThrown", "Log.entryAdded")


class Tab:
    """One tab. `problems` holds errors and warnings of its console, and everything that it asked a network for."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._number, self._rest, self._session = 0, b"", ""
        self._seen: set[str] = set()
        self.problems: list[str] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Open a page, and wait until its script has run."""
        self._seen.discard("Page.loadEventFired")
        self._call("Page.navigate", {"url": address})
        while "Page.loadEventFired" not in self._seen:
            self._take(self._receive())
        assert self.run("document.documentElement.dataset.ready") == "yes", self.problems

    def run(self, script: str) -> Any:
        """Return the value of an expression, or of the promise that it gives."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        found = self._call("Runtime.evaluate", asked)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        facts = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self._call("Input.dispatchKeyEvent", {"type": "keyDown", **facts})
        self._call("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
        self.run("new Promise((done) => setTimeout(done, 150))")

    def resize(self, width: int, height: int, *, is_dark: bool = False, is_phone: bool = False) -> None:
        """Set the window and the colours that its user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
        self._call("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._call("Emulation.setEmulatedMedia", {"features": [scheme]})

    def shoot(self, path: Path) -> Path:
        """Write a picture of the window."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", {"format": "png"})["data"]))
        return path

    def _call(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": dict(parameters or {})}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self._take(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        deadline = monotonic() + _PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select([self._reading], [], [], max(0.0, deadline - monotonic()))
            block = os.read(self._reading, 1 << 20) if ready else b""
            assert block, "Chromium says nothing"
            self._rest += block
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found

    def _take(self, event: dict[str, Any]) -> None:
        method, facts = event.get("method", ""), event.get("params", {})
        self._seen.add(method)
        is_loud = method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert")
        if method in _PROBLEMS or is_loud:
            self.problems.append(json.dumps(facts)[:2000])
        if method == "Network.requestWillBeSent" and not facts["request"]["url"].startswith(("file:", "data:")):
            self.problems.append(f"asked for {facts['request']['url'][:200]}")


@contextmanager
def open_tab() -> Iterator[Tab]:
    """Start a browser of its own with an empty profile, and end it."""
    assert CHROMIUM is not None
    (to_read, to_answer), (to_ask, to_write) = os.pipe(), os.pipe()
    with TemporaryDirectory(prefix="sandmill-chromium-", ignore_cleanup_errors=True) as profile:
        # Chromium reads messages from descriptor 3 and answers on 4.
        line = f'exec "$0" "$@" 3<&{to_ask} 4>&{to_answer}'
        command = ["/bin/bash", "-c", line, CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            command, pass_fds=(to_ask, to_answer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_ask)
        os.close(to_answer)
        try:
            yield Tab(to_read, to_write)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(to_read)
            os.close(to_write)
