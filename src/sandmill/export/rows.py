"""Parquet rows for verl, SkyRL and rLLM: a prompt and a reference to the task for each row, one file for each split.

Rows hold no answers and no thresholds. The trainer grades through sandmill, which finds the task by its id.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from sandmill.export.base import ExportSettings, ExportTask
from sandmill.fingerprint import canonical_json
from sandmill.models.layout import COMMAND, PUBLIC, SUBMISSION
from sandmill.models.release import SPLITS
from sandmill.store.arrow_tables import Row
from sandmill.store.parquet import write_rows

ROWS_PER_GROUP = 64
"""Rows of a row group: a reader that needs some rows decodes little else."""
_HOW_CODE_RUNS = f"""\
## How code runs

The script runs in a new process, as `{COMMAND}`, in a working directory that holds the read-only folder `{PUBLIC}`. \
There is no network. The submission counts if the script exits without an error and has itself written \
`{SUBMISSION}`, as a regular file.

## How to answer

Answer with one complete Python script, in a code block that starts with ```python. If there are several, the last \
one runs.
"""
_TEXT = pa.string()
_MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
_FACTS = ("task_id", "digest", "dataset", "version", "metric", "band")
_EXTRA_INFO = pa.struct([("split", _TEXT), ("index", pa.int64()), *((name, _TEXT) for name in _FACTS)])
"""Facts of a row that trainers pass on. `index` is the number of the row in its file."""
_VERL = pa.schema(
    [
        ("data_source", _TEXT),
        ("prompt", _MESSAGES),
        ("ability", _TEXT),
        ("reward_model", pa.struct([("style", _TEXT), ("ground_truth", _TEXT)])),
        ("extra_info", _EXTRA_INFO),
    ]
)
_SKYRL = pa.schema(
    [
        ("data_source", _TEXT),
        ("prompt", _MESSAGES),
        ("env_class", _TEXT),
        ("reward_spec", pa.struct([("method", _TEXT), ("ground_truth", _TEXT)])),
        ("extra_info", _EXTRA_INFO),
    ]
)
_RLLM = pa.schema(
    [
        ("prompt", _MESSAGES),
        ("extra_info", pa.struct([(name, _TEXT) for name in ("competition_id", "question", "digest")])),
    ]
)


@dataclass(frozen=True)
class _Prompt:
    """What the row of one task may contain."""

    text: str
    facts: dict[str, str]
    """Values of the fields of `_EXTRA_INFO` but the index."""

    def row(self, index: int, reward: Row, **others: Row | str) -> Row:
        """Return the row of verl and SkyRL. The ground truth refers to the task as a JSON object: id and digest."""
        facts = self.facts
        reference = canonical_json({"task_id": facts["task_id"], "digest": facts["digest"]})
        return {
            "data_source": f"sandmill/{facts['dataset']}",
            "prompt": [{"role": "user", "content": self.text}],
            **{name: {**rule, "ground_truth": reference} for name, rule in reward.items()},
            "extra_info": {"index": index, **facts},
            **others,
        }


def verl(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield rows that verl's `RLHFDataset` reads, for `sandmill.trainers.verl.compute_score`.

    The files are train.parquet, val.parquet and one test file for each held-out split.
    """

    def make(prompt: _Prompt, index: int) -> Row:
        return prompt.row(index, {"reward_model": {"style": "rule"}}, ability="machine-learning-engineering")

    return _parquet_files(tasks, settings, _VERL, make, "val")


def skyrl(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield rows that SkyRL's `PromptDataset` reads, for an environment registered as `sandmill`.

    The files are train.parquet, validation.parquet and one test file for each held-out split.
    """

    def make(prompt: _Prompt, index: int) -> Row:
        return prompt.row(index, {"reward_spec": {"method": "rule"}}, env_class="sandmill")

    return _parquet_files(tasks, settings, _SKYRL, make, "validation")


def rllm(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the rows that SandMLE's trainer registers in rLLM, with our prompt.

    SandMLE's training scripts validate on test.parquet, which is the split `validation`.
    """

    def make(prompt: _Prompt, index: int) -> Row:
        task_id = prompt.facts["task_id"]
        # SandMLE's workflow reads the id from this line of the question.
        question = f"## Competition ID: {task_id}\n\n{prompt.text}"
        info = {"competition_id": task_id, "question": question, "digest": prompt.facts["digest"]}
        return {"prompt": [{"role": "user", "content": question}], "extra_info": info}

    return _parquet_files(tasks, settings, _RLLM, make, "test")


def _parquet_files(
    tasks: Iterable[ExportTask],
    settings: ExportSettings,
    schema: pa.Schema,
    make: Callable[[_Prompt, int], Row],
    validation: str,
) -> Iterator[tuple[str, bytes]]:
    """Yield one Parquet file for each split that has tasks. Rows are sorted by task id.

    `make` makes a row from its content and its number in the file. `validation` is the file of the split `validation`,
    without its extension.
    """
    prompts = sorted((_read(task, settings) for task in tasks), key=lambda prompt: prompt.facts["task_id"])
    for split in SPLITS:
        chosen = [prompt for prompt in prompts if prompt.facts["split"] == split]
        rows = [make(prompt, index) for index, prompt in enumerate(chosen)]
        groups = [rows[start : start + ROWS_PER_GROUP] for start in range(0, len(rows), ROWS_PER_GROUP)]
        if groups:
            name = {"train": "train", "validation": validation}.get(split, f"test_{split}")
            yield f"{name}.parquet", write_rows(schema, groups)


def _read(task: ExportTask, settings: ExportSettings) -> _Prompt:
    record, manifest = task.record, settings.manifest
    facts: dict[str, str] = {
        "split": record.split,
        "task_id": task.task_id,
        "digest": record.digest,
        "dataset": manifest.dataset,
        "version": manifest.version,
        "metric": record.facts.metric.value,
        "band": record.calibration.difficulty.band.value,
    }
    return _Prompt(f"{task.description.rstrip()}\n\n{_HOW_CODE_RUNS}", facts)
