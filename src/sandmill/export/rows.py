"""Parquet rows for verl, SkyRL and rLLM: a prompt and a reference to the task for each row, one file for each split.

Rows hold no answers and no thresholds. The trainer grades through sandmill, which finds the task by its id.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa

from sandmill.export.base import ExportTask, template
from sandmill.fingerprint import canonical_json
from sandmill.models.layout import COMMAND, PUBLIC, SUBMISSION
from sandmill.models.release import SPLITS, Manifest
from sandmill.play.prompt import HOW_TO_ANSWER
from sandmill.store.arrow_tables import Row
from sandmill.store.parquet import in_groups, write_rows

ROWS_PER_GROUP = 64
"""Rows of a row group: a reader that needs some rows decodes little else."""
_HOW_CODE_RUNS = template("rows_run.md").format(
    command=COMMAND, public=PUBLIC, submission=SUBMISSION, how_to_answer=HOW_TO_ANSWER
)
_TEXT = pa.string()
MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
_FACTS = ("task_id", "digest", "dataset", "version", "metric", "band")
_EXTRA_INFO = pa.struct([("split", _TEXT), ("index", pa.int64()), *((name, _TEXT) for name in _FACTS)])
"""Facts of a row that trainers pass on. `index` is the number of the row in its file."""


def verl(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield rows that verl's `RLHFDataset` reads, for `sandmill.trainers.verl.compute_score`.

    The files are train.parquet, val.parquet and one test file for each held-out split.
    """
    others = {"ability": "machine-learning-engineering"}
    return _referring(tasks, manifest, "val", others, "reward_model", {"style": "rule"})


def skyrl(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield rows that SkyRL's `PromptDataset` reads, for an environment registered as `sandmill`.

    The files are train.parquet, validation.parquet and one test file for each held-out split.
    """
    return _referring(tasks, manifest, "validation", {"env_class": "sandmill"}, "reward_spec", {"method": "rule"})


def rllm(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the rows that SandMLE's trainer registers in rLLM, with our prompt.

    SandMLE's training scripts validate on test.parquet, which is the split `validation`.
    """
    info = pa.struct([(name, _TEXT) for name in ("competition_id", "question", "digest")])

    def make(text: str, facts: Mapping[str, str], index: int) -> Row:
        # SandMLE's workflow reads the id from this line of the question.
        question = f"## Competition ID: {facts['task_id']}\n\n{text}"
        reference = {"competition_id": facts["task_id"], "question": question, "digest": facts["digest"]}
        return {"prompt": [{"role": "user", "content": question}], "extra_info": reference}

    return _parquet_files(tasks, manifest, pa.schema([("prompt", MESSAGES), ("extra_info", info)]), make, "test")


def _referring(
    tasks: Iterable[ExportTask],
    manifest: Manifest,
    validation: str,
    others: Mapping[str, str],
    reward: str,
    rule: Mapping[str, str],
) -> Iterator[tuple[str, bytes]]:
    """Yield rows of verl and SkyRL. The ground truth refers to the task as a JSON object: id and digest.

    `others` are the columns between prompt and `reward`, the column of the ground truth and its `rule`.
    """
    referring = pa.struct([(name, _TEXT) for name in (*rule, "ground_truth")])
    columns = [("data_source", _TEXT), ("prompt", MESSAGES), *((name, _TEXT) for name in others)]
    schema = pa.schema([*columns, (reward, referring), ("extra_info", _EXTRA_INFO)])

    def make(text: str, facts: Mapping[str, str], index: int) -> Row:
        reference = canonical_json({"task_id": facts["task_id"], "digest": facts["digest"]})
        return {
            "data_source": f"sandmill/{facts['dataset']}",
            "prompt": [{"role": "user", "content": text}],
            reward: {**rule, "ground_truth": reference},
            "extra_info": {"index": index, **facts},
            **others,
        }

    return _parquet_files(tasks, manifest, schema, make, validation)


def _parquet_files(
    tasks: Iterable[ExportTask],
    manifest: Manifest,
    schema: pa.Schema,
    make: Callable[[str, Mapping[str, str], int], Row],
    validation: str,
) -> Iterator[tuple[str, bytes]]:
    """Yield one Parquet file for each split that has tasks. Rows are sorted by task id.

    `make` makes a row from its prompt, its facts and its number in the file. `validation` is the file of the split
    `validation`, without its extension.
    """
    prompts: list[tuple[str, dict[str, str]]] = []
    for task in tasks:
        record = task.record
        facts: dict[str, str] = {
            "split": record.split,
            "task_id": task.task_id,
            "digest": record.digest,
            "dataset": manifest.dataset,
            "version": manifest.version,
            "metric": record.facts.metric.value,
            "band": record.calibration.difficulty.band.value,
        }
        prompts.append((f"{task.description.rstrip()}\n\n{_HOW_CODE_RUNS}", facts))
    prompts.sort(key=lambda prompt: prompt[1]["task_id"])
    for split in SPLITS:
        chosen = [prompt for prompt in prompts if prompt[1]["split"] == split]
        rows = [make(text, facts, index) for index, (text, facts) in enumerate(chosen)]
        if rows:
            name = {"train": "train", "validation": validation}.get(split, f"test_{split}")
            yield f"{name}.parquet", write_rows(schema, in_groups(rows, ROWS_PER_GROUP))
