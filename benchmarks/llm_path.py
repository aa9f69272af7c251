"""The llm designer against a scripted server: time, kills and money. python -m benchmarks.llm_path."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design.llm import Designed, KnownDomain, LlmDesigner
from sandmill.fingerprint import fingerprint
from sandmill.kinds.library import load_domains
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm.budget import Ledger
from sandmill.models.base import Band
from sandmill.models.llm import LlmSettings, ModelChoice
from sandmill.models.plan import Slot
from sandmill.models.structure import Modality
from sandmill.pipeline.designing import DESIGNS_A_CALL
from sandmill.report.text_tables import TextTable, to_markdown
from sandmill.seeds import ingest
from sandmill.store.files import Store
from tests.llm_playbook import Playbook
from tests.llm_server import Answer, Received, good, serve

DESIGNS, CALLS, SECONDS = 100, 32, 0.2
"""Load of the time measurement."""
PRICES = {"input": 1.0, "output": 10.0}
_KNOWN = [KnownDomain.of_domain(domain) for domain in load_domains()]


def main(arguments: list[str]) -> int:
    """Measure and print one table, or run as the process that is killed or as the server."""
    if arguments[:1] == ["--design"]:
        _design(Path(arguments[1]), arguments[2], int(arguments[3]))
        return 0
    if arguments == ["--serve"]:
        with serve(_slow(Playbook(), SECONDS)) as server:
            print(server.base, flush=True)
            sys.stdin.read()
        return 0
    os.environ["OPENAI_API_KEY"] = "none"
    rows = [_measure_time(), _measure_kill(), _measure_money()]
    print(to_markdown(TextTable("LLM path", ("what", "measured", "wanted"), tuple(rows))))
    return 0


@cache
def _slots(count: int) -> list[Slot]:
    seeds = [seed for seed in ingest(()).supported if seed.structure.modality is Modality.TABULAR]
    return [Slot(number=n, seed=seeds[n % len(seeds)], band=Band.MEDIUM) for n in range(count)]


def _design(
    root: Path, base: str, count: int, max_usd: float | None = None, calls: int = CALLS
) -> tuple[list[Any], Budget]:
    """Design with as many designs in progress as a build has."""
    store = Store(str(root))
    budget = Budget(max_usd, Ledger(store, "llm/paid"))
    settings = LlmSettings(concurrency=calls, api_base=base)
    client = LlmClient(ModelChoice(models=("openai/gpt-4o-mini",)), settings, Recordings(store), budget, PRICES)
    at_once = calls * (1 if max_usd is not None else DESIGNS_A_CALL)
    designer = LlmDesigner(client.ask, 2, GIVEAWAYS, at_once=at_once)
    return asyncio.run(designer.design(_slots(count), _KNOWN, "round 0")), budget


def _slow(playbook: Playbook, seconds: float) -> Any:
    def script(received: Received) -> Answer:
        asked = received.body["response_format"]["json_schema"]["name"]
        return good(playbook.answer(asked, received.body["messages"]), wait_s=seconds)

    return script


def _measure_time() -> tuple[str, str, str]:
    with _elsewhere() as base, TemporaryDirectory() as folder:
        _design(Path(folder) / "warm", base, 1)
        _slots(DESIGNS)
        started, worked = time.monotonic(), time.process_time()
        outcomes, budget = _design(Path(folder) / "cold", base, DESIGNS)
        took, cpu = time.monotonic() - started, time.process_time() - worked
    asked = budget.paid.requests
    ideal = asked * SECONDS / CALLS
    made = sum(isinstance(outcome, Designed) for outcome in outcomes)
    measured = (
        f"{took:.2f} s for {made} designs in {asked} calls, ideal {ideal:.2f} s: {took / ideal:.2f}; "
        f"{1000 * cpu / asked:.1f} ms CPU a call"
    )
    return f"{DESIGNS} designs, {CALLS} calls of {SECONDS:g} s at once", measured, "at most 2"


@contextmanager
def _elsewhere() -> Iterator[str]:
    """Run the server in another process, so that its CPU time does not count as the client's."""
    command = [sys.executable, "-m", "benchmarks.llm_path", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as serving:
        assert serving.stdout
        assert serving.stdin
        yield serving.stdout.readline().strip()
        serving.stdin.close()


def _measure_kill() -> tuple[str, str, str]:
    """Kill the process in the middle, run it again, and count requests that were sent twice."""
    with serve(_slow(Playbook(), SECONDS)) as server, TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.llm_path", "--design", folder, server.base, "20"]
        killed = subprocess.Popen(command)
        while len(server.received) < 60 and killed.poll() is None:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        kept, before = len(Store(folder).list("llm/replies")), len(server.received)
        subprocess.run(command, check=True)
        times = Counter(fingerprint(json.loads(json.dumps(one.body))) for one in server.received)
        twice = sum(count - 1 for count in times.values())
        lost = before - kept
    measured = f"{twice} asked twice, of {lost} that were in flight when it was killed; {kept} were kept"
    return "kill -9 after 60 requests of 100, and again", measured, "none that was kept"


def _measure_money() -> tuple[str, str, str]:
    limit = 0.25
    with serve(_slow(Playbook(), 0.02)) as server, TemporaryDirectory() as folder:
        outcomes, budget = _design(Path(folder), server.base, DESIGNS, limit)
    made = sum(isinstance(outcome, Designed) for outcome in outcomes)
    measured = f"{budget.spent:.4f} USD paid of {limit:g}, {made} designs finished"
    return f"--max-usd {limit:g} with {CALLS} calls at once", measured, "exceeded by what is in flight at most"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
