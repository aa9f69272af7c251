"""Work for the worker tests: importable by name, as the pool asks."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


def square(number: int) -> int:
    return number**2


def nap(seconds: float) -> None:
    time.sleep(seconds)


def echo(item: Any) -> Any:
    return item


def stamp(_: Any) -> float:
    """When a worker got to this item, by a clock that all processes share."""
    return time.monotonic()


def throw(error: Exception) -> None:
    raise error


def die_if_negative(number: int) -> int:
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def hang_if_path(path: str) -> str:
    if path:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(path).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(600)
    return "done"


def say_pid_and_sleep(_: Any) -> None:
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(600)


def give_unpicklable(_: Any) -> Any:
    return threading.Lock()


class Sealed(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} {two}")


def throw_unpicklable(_: Any) -> None:
    error = ValueError("holds a lock")
    error.lock = threading.Lock()
    raise error


def throw_unreadable(_: Any) -> None:
    raise Sealed(1, 2)


def describe(_: Any) -> dict[str, Any]:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return {
        "omp": os.environ.get("OMP_NUM_THREADS"),
        "openblas": os.environ.get("OPENBLAS_NUM_THREADS"),
        "blas_threads": sorted({library["num_threads"] for library in threadpool_info()}),
        "sigint_ignored": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    }
