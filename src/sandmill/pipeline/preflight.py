"""Checks of all inputs of a build before any work. All problems are reported at once, and nothing is written."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from sandmill.errors import InputError, Problem, RequestError, SandboxUnavailable, StoreError
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import llm_problems
from sandmill.provenance import numeric_versions
from sandmill.publish.signature import sign
from sandmill.sandbox.agent_env import require_agent_env
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.secret import read_secret_file


def check_inputs(request: BuildRequest, settings: RunSettings, others: Iterable[Problem] = ()) -> None:
    """Check seeds, root, secret file, the agent's interpreter and language models without writing.

    `others` are problems that the orchestrator found, to be reported with these.

    Raises:
        RequestError: with every problem of every input.
    """
    problems = [
        *_problems_of(lambda: ingest(request.seeds)),
        *_problems_of(lambda: Store(f"{settings.root}/{request.name}").list("versions"), "--root"),
        *_problems_of(lambda: _require_writable(settings.root), "--root"),
        *_problems_of(lambda: settings.secret_file and read_secret_file(settings.secret_file)),
        *_problems_of(lambda: settings.sign_key and sign(settings.sign_key, b"")),
        *_interpreter_problems(),
        *llm_problems(request, settings),
        *others,
    ]
    if problems:
        raise RequestError("build", problems)


def _require_writable(root: str) -> None:
    """Open a nameless temporary file in the nearest folder that exists, which leaves nothing behind."""
    if "://" in root:
        return
    folder = next(path for path in (Path(root).absolute(), *Path(root).absolute().parents) if path.exists())
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreError(f"{folder}: {(error.strerror or str(error)).lower()}") from error


def _interpreter_problems() -> Iterator[Problem]:
    """Compare library versions: reference solutions must give the same numbers in the agent's interpreter."""
    try:
        env = require_agent_env()
    except SandboxUnavailable as error:
        yield from error.problems
        return
    here = numeric_versions()
    for name, number in env.packages.items():
        if here.get(name, number) != number:
            hint = "Install with the constraints file: pip install -c constraints.txt"
            yield Problem(f"{name} of this interpreter", here[name], f"{number}, as in the agent environment", hint)


def _problems_of(look: Callable[[], object], where: str = "") -> list[Problem]:
    try:
        look()
    except InputError as error:
        # Name the file in the place, unless the place names it already.
        named = [one.where if error.source in one.where else f"{error.source}, {one.where}" for one in error.problems]
        return [replace(one, where=name) for one, name in zip(error.problems, named, strict=True)]
    except StoreError as error:
        return [Problem(where, str(error), "a folder or s3://bucket/prefix that can be read and written")]
    return []
