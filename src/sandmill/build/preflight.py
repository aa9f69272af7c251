"""Look at everything a person gave before any work begins: all mistakes are told at once and nothing is written."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

from sandmill.build.asking import asking_problems
from sandmill.errors import InputError, Problem, RequestError, StoreError
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.secret import read_secret_file


def check_inputs(request: BuildRequest, settings: RunSettings) -> None:
    """Try seeds, root and secret file without writing.

    Raises:
        RequestError: with every problem of every input.
    """
    problems = [
        *_problems_of(lambda: ingest(request.seeds)),
        *_problems_of(lambda: Store(f"{settings.root}/{request.name}").list("versions"), "--root"),
        *_problems_of(lambda: _require_writable(settings.root), "--root"),
        *_problems_of(lambda: settings.secret_file and read_secret_file(settings.secret_file)),
        *asking_problems(request, settings),
    ]
    if problems:
        raise RequestError("build", problems)


def _require_writable(root: str) -> None:
    """Open a file without a name in the nearest folder that exists, which leaves nothing behind."""
    if "://" in root:
        return
    folder = next(path for path in (Path(root).absolute(), *Path(root).absolute().parents) if path.exists())
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreError(f"{folder}: {(error.strerror or str(error)).lower()}") from error


def _problems_of(look: Callable[[], object], where: str = "") -> list[Problem]:
    try:
        look()
    except InputError as error:
        return [_with_source(problem, error.source) for problem in error.problems]
    except StoreError as error:
        return [Problem(where, str(error), "a folder or s3://bucket/prefix that can be read and written")]
    return []


def _with_source(problem: Problem, source: str) -> Problem:
    """Name the file in the place, unless the place names it already."""
    where = problem.where if source in problem.where else f"{source}, {problem.where}"
    return Problem(where, problem.saw, problem.expected, problem.hint)
