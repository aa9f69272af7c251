"""What the warm interpreter does once so that runs need not: import the libraries, and find the memory they touch.

No model is fitted in the warm interpreter: a parallel region of OpenMP would hang the forks, which inherit its locks
without its threads. One fork fits some models, reports which pages it touched, and ends. The first fit causes thousands
of page faults, which take longer than a small fit, so runs that are forked ahead touch these pages while they wait.
"""

import array
import json
import os
import select
import signal
import socket
import sys
import weakref
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from sandmill.sandbox.guest import kernel

STANDARD = (
    "argparse asyncio collections concurrent.futures copy csv dataclasses datetime decimal email functools glob gzip"
    " hashlib heapq html http inspect io itertools json logging math multiprocessing multiprocessing.pool operator"
    " pathlib pickle pprint queue re shutil sqlite3 statistics string subprocess textwrap typing unittest uuid"
    " urllib.request warnings xml.etree.ElementTree zipfile"
)
LIBRARIES = (
    "numpy numpy.random numpy.linalg numpy.fft pandas polars pyarrow pyarrow.parquet pyarrow.csv joblib"
    " scipy scipy.stats scipy.optimize scipy.sparse scipy.special scipy.linalg scipy.signal scipy.interpolate"
    " scipy.spatial scipy.cluster.hierarchy scipy.ndimage"
    " sklearn sklearn.base sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance sklearn.decomposition"
    " sklearn.discriminant_analysis sklearn.dummy sklearn.ensemble sklearn.feature_extraction.text"
    " sklearn.feature_selection sklearn.gaussian_process sklearn.impute sklearn.inspection sklearn.isotonic"
    " sklearn.kernel_approximation sklearn.kernel_ridge sklearn.linear_model sklearn.manifold sklearn.metrics"
    " sklearn.mixture sklearn.model_selection sklearn.multiclass sklearn.multioutput sklearn.naive_bayes"
    " sklearn.neighbors sklearn.neural_network sklearn.pipeline sklearn.preprocessing sklearn.random_projection"
    " sklearn.semi_supervised sklearn.svm sklearn.tree sklearn.utils"
    " pandas.io.formats.csvs pandas.io.formats.format pandas.io.parsers pyarrow.pandas_compat pyarrow.vendored.version"
    " narwhals.stable.v2._namespace narwhals._pandas_like.dataframe narwhals._pandas_like.expr"
    " narwhals._pandas_like.namespace narwhals._interchange.dataframe"
    " PIL.Image PIL.ImageOps PIL.PngImagePlugin PIL.JpegImagePlugin lightgbm xgboost"
)
TORCH = (
    "torch torch.nn torch.nn.functional torch.optim torch.optim.lr_scheduler torch.utils.data torch._dynamo"
    " torchvision torchvision.models torchvision.transforms torchvision.transforms.v2"
)
"""What an agent environment with PyTorch has besides. The first optimizer of a process imports `torch._dynamo`."""


LOOKUPS = "narwhals.plugins:_discover_entrypoints pandas.io.common:_get_binary_io_classes"
"""Cached functions that find installed plug-ins. Libraries call them at the first table."""
Span = tuple[int, int, bool]
"""A range of memory: first byte, number of bytes, whether it is writable."""

_SCRIPT = """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

table = pd.read_csv(FILE)
features = table.drop(columns=["id", "label"])
for model in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=3), RandomForestClassifier(5)):
    table["label"] = model.fit(features, table.label).predict_proba(features)[:, 1] > 0.5
    table[["id", "label"]].to_csv(FILE, index=False)
"""
_TORCH_SCRIPT = """
import torch
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2)
)
optimizer = torch.optim.Adam(network.parameters())
for _ in range(3):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(network(torch.randn(16, 1, 8, 8)), torch.zeros(16, dtype=torch.long)).backward()
    optimizer.step()
"""
_ROWS = 150
_WAIT_MS = 30_000
_PAGE = os.sysconf("SC_PAGESIZE")
_PRESENT, _OF_FILE, _UNSHARED = 63, 61, 56
"""Bit numbers in an entry of /proc/PID/pagemap."""
_SPANS_PER_CHECK = 64
"""Ranges that are touched between two checks for a job."""


def preload() -> None:
    """Import all modules that exist, and fill the caches. A missing module fails later, in the agent's code."""
    from unittest.mock import patch

    # PyTorch makes a folder in that of temporary files. Only a run has one, and makes it when it needs it.
    with patch("tempfile.tempdir", os.environ.get("TMPDIR")), patch("os.makedirs"):
        for name in f"{STANDARD} {LIBRARIES} {TORCH}".split():
            with suppress(ImportError):
                import_module(name)
    for place in LOOKUPS.split():
        name, _, question = place.partition(":")
        # Other versions of a library may lack the function.
        with suppress(ImportError, AttributeError):
            getattr(import_module(name), question)()
    # At the end of a run, finalizers of imported modules clean up what ends with the process: 25 ms of PyTorch.
    for one in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        one.atexit = False


def rehearse() -> list[Span]:
    """Return the inherited memory that a typical script touches. Returns an empty list if the rehearsal fails."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _run_rehearsal(writer)
    os.close(writer)
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    if not waiting.poll(_WAIT_MS):
        os.kill(pid, signal.SIGKILL)
    with open(reader, "rb") as file:
        report = file.read()
    os.waitpid(pid, 0)
    try:
        return [(low, size, is_written) for low, size, is_written in json.loads(report)]
    except ValueError:
        # The rehearsal failed or was killed while it wrote. Runs are slower without it.
        return []


def touch_ahead(spans: Iterable[Span], job_socket: socket.socket) -> None:
    """Touch the memory that a script will touch. Stop when a job arrives, since starting it is then faster."""
    waiting = select.poll()
    waiting.register(job_socket, select.POLLIN)
    for number, (low, size, is_written) in enumerate(spans):
        if number % _SPANS_PER_CHECK == 0 and waiting.poll(0):
            return
        kernel.populate(low, size, is_written)


def _run_rehearsal(writer: int) -> NoReturn:
    """Run the script in this forked process, write the touched ranges to the pipe, and exit."""
    try:
        kernel.die_with_parent()
        before = _list_mappings()
        file = os.memfd_create("sandmill-rehearsal")
        rows = (f"{n},{n * 37 % 100 / 50},{n * 61 % 100 / 30},{n * 7 % 2}\n" for n in range(_ROWS))
        os.write(file, "".join(["id,a,b,label\n", *rows]).encode())
        script = _SCRIPT + (_TORCH_SCRIPT if "torch" in sys.modules else "")
        exec(compile(script, "solution.py", "exec"), {"__name__": "__main__", "FILE": f"/proc/self/fd/{file}"})
        report = json.dumps(_find_touched(before)).encode()
        with open(writer, "wb") as pipe:
            pipe.write(report)
    finally:
        os._exit(0)


def _list_mappings() -> list[tuple[int, int, bool]]:
    """List readable mappings except special ones: first page, page after the last, and whether it is writable."""
    found = []
    with open("/proc/self/maps", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        place, rights, _, _, _, *name = line.split(maxsplit=5)
        low, high = (int(word, 16) // _PAGE for word in place.split("-"))
        is_special = bool(name) and name[0].startswith("[") and name[0] != "[heap]"
        if rights.startswith("r") and not is_special:
            found.append((low, high, rights[1] == "w"))
    return found


def _find_touched(areas: list[tuple[int, int, bool]]) -> list[Span]:
    """Find touched pages: private copies in writable mappings, and present pages in the others."""
    found: list[Span] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for low, high, is_writable in areas:
            file.seek(8 * low)
            entries = array.array("Q", file.read(8 * (high - low)))
            start = None
            for at, entry in enumerate([*entries, 0]):
                is_own = not entry >> _OF_FILE & 1 and entry >> _UNSHARED & 1
                is_touched = entry >> _PRESENT & 1 and (is_own or not is_writable)
                if is_touched and start is None:
                    start = at
                elif not is_touched and start is not None:
                    found.append(((low + start) * _PAGE, (at - start) * _PAGE, is_writable))
                    start = None
    return found
