"""Ask the machines of a Dask or Ray cluster what a build needs to know before it sends them shards."""

import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from joblib import cpu_count

from sandmill.provenance import code_version
from tasks.building import suites

SECONDS_TO_ANSWER = 15.0
"""Wall-clock limit in seconds for a connection to a cluster."""
_SECONDS_TO_DESCRIBE = 180.0
"""Wall-clock limit in seconds for the first answer of Ray's nodes, which start a process and import the tasks."""


@dataclass(frozen=True)
class Machine:
    """One process of a cluster that runs shards, and its machine."""

    host: str
    cores: int
    """Cores that the process may use. Limits of containers count."""
    code: str
    """From `code_version`."""
    shards: int = 1
    """Processes of the cluster on this machine, each of which runs shards."""


def describe_machine() -> Machine:
    """Describe the machine that runs this function."""
    return Machine(host=socket.gethostname(), cores=cpu_count(), code=code_version(suites()))


def look_at_cluster(kind: str, address: str) -> list[Machine]:
    """Return one entry for each worker process of a Dask cluster, or for each node of a Ray cluster.

    Raises:
        OSError: nothing answers at the address.
        ImportError: a worker, or the scheduler of Dask, cannot import the tasks of this repository.
    """
    _require_open_port(address)
    found = _ask_dask(address) if kind == "dask" else _ask_ray(address)
    counts = Counter(machine.host for machine in found)
    return [Machine(one.host, one.cores, one.code, counts[one.host]) for one in found]


def workers_of_shard(machines: Sequence[Machine], shard_size: int) -> int:
    """Return the worker processes of one shard, so that the shards of a machine share its cores.

    It is the share of the smallest machine, and at most the slots of a shard, which are built side by side.
    """
    return max(1, min(shard_size, *(machine.cores // machine.shards for machine in machines)))


def _require_open_port(address: str) -> None:
    """Connect once. The libraries themselves try for minutes before they give up."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        if address == "auto":
            return
        raise OSError("the address has no port")
    socket.create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()


def _ask_dask(address: str) -> list[Machine]:
    from distributed import Client

    with Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False) as client:
        # The scheduler unpickles the shards that it hands on, so it has to import the tasks too.
        client.run_on_scheduler(describe_machine)
        answers = client.run(describe_machine)
    return list(answers.values())


def _ask_ray(address: str) -> list[Machine]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    with _connected(ray, address):
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        asked = [
            ray.remote(num_cpus=0)(describe_machine)
            .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote()
            for node in nodes
        ]
        answers: list[Machine] = ray.get(asked, timeout=_SECONDS_TO_DESCRIBE)
        # Ray may be allowed fewer cores of a machine than this process sees. Half of them are for another shard.
        cores = [max(1, int(node["Resources"]["CPU"]) // 2) for node in nodes]
        return [Machine(one.host, count, one.code) for one, count in zip(answers, cores, strict=True)]


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect to Ray, and disconnect unless this process was connected before."""
    was_connected = ray.is_initialized()
    if not was_connected:
        ray.init(address=address, namespace="prefect", log_to_driver=False)
    try:
        yield
    finally:
        if not was_connected:
            ray.shutdown()
