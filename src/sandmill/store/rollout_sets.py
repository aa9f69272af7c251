"""Read rollouts of one or more models from a folder or from a single Parquet file, for comparison."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandmill.errors import InputError, Problem, StoreError, shorten
from sandmill.models.rollout import RolloutFacts
from sandmill.store.files import Store
from sandmill.store.rollout_table import FACTS, facts_of
from sandmill.store.rollouts import RolloutFolder

_EXTRA = ("model", "reward_preset")
_PARQUET = ".parquet"


@dataclass(frozen=True)
class RolloutSet:
    """Rollouts of one model."""

    model: str
    presets: frozenset[str]
    """Reward presets of the rollouts. Rewards of different presets do not compare."""
    facts: tuple[RolloutFacts, ...]
    files: str
    """Path or pattern of the Parquet files that hold them."""
    loose: int = 0
    """Rollouts that are in no Parquet file yet."""


def read_rollout_sets(place: str) -> list[RolloutSet]:
    """Return the rollouts of a place by model: one set for a folder of `sandmill rollout`, one a model for a file.

    Args:
        place: folder or S3 prefix, or a Parquet file with the columns of such a folder.

    Raises:
        InputError: no rollouts are there, or the file lacks columns.
        StoreError: a file is damaged.
    """
    if place.endswith(_PARQUET):
        return _read_file(place)
    folder = RolloutFolder(Store(place))
    settings = folder.require()
    files = folder.store.where("rollouts-*.parquet")
    return [RolloutSet(settings.model, frozenset([settings.reward]), tuple(folder.facts()), files, folder.loose)]


def _read_file(place: str) -> list[RolloutSet]:
    facts: defaultdict[str, list[RolloutFacts]] = defaultdict(list)
    presets: defaultdict[str, set[str]] = defaultdict(set)
    for row in _rows(place):
        facts[row["model"]].append(facts_of(row))
        if row["reward_preset"]:
            presets[row["model"]].add(row["reward_preset"])
    if not facts:
        raise InputError(place, [Problem("rows", "none", "a row for each rollout")])
    return [RolloutSet(model, frozenset(presets[model]), tuple(facts[model]), place) for model in sorted(facts)]


def _rows(place: str) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parent, _, name = place.rpartition("/")
    with Store(parent or ".").open(name) as file:
        try:
            table = pq.ParquetFile(file)
            if missing := [column for column in (*FACTS, *_EXTRA) if column not in table.schema_arrow.names]:
                expected = "the columns of a file that sandmill rollout wrote"
                raise InputError(place, [Problem("columns", f"no {', '.join(missing)}", expected)])
            for batch in table.iter_batches(batch_size=1000, columns=[*FACTS, *_EXTRA]):
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"{place}: cannot be read: {shorten(str(error), 200)}") from error
