"""Make the certificate of a version from its records and files, and compare it with what the files give."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from sandmill.errors import DegenerateTask
from sandmill.models.base import Stage
from sandmill.models.certificate import (
    Certificate,
    Contamination,
    GroupFigures,
    Mean,
    Quantiles,
    Rate,
)
from sandmill.models.names import CERTIFICATE, CROISSANT, SIGNATURE
from sandmill.models.release import BUILD_REPORT, Counts
from sandmill.models.reports import ScriptSeconds
from sandmill.publish.croissant import croissant
from sandmill.publish.signature import sign, signature_fault
from sandmill.report.digest import GroupCounts, ReleaseCounts
from sandmill.store.arrow_tables import read_record
from sandmill.store.catalogue import read_overview
from sandmill.store.release import StoredRelease
from sandmill.store.versions import first_fault

_DERIVED = (CERTIFICATE, SIGNATURE, CROISSANT, "README.md")
_COMPARED = 2000
"""Tasks whose prompts are compared: 6 kB and about 40 sentences each."""
_LEAST_WORDS = 5
_SHOWN = 10
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

STATEMENT = (
    "Rows, targets and answers are drawn from declared mechanisms with a release secret; no row of a real data set is "
    "published. Names and texts come from word lists and templates, or from a language model if one designed. "
    "Task ids and rules cannot be computed without the secret."
)
REASONS = {
    "adversary_gold": "no task was measured with a solver beside the leaderboard",
    "reader_gold": "gold of no task follows from solvers that know stated facts",
    "search_gap": "the search for forms ran on no task",
    "search_gold": "the search for forms ran on no task",
    "single_column_gap": "no task has a column that can be a prediction",
    "bracket_width": "no best possible score lies between two bounds",
    "script_seconds": "the build did not record processor seconds of solvers",
    "red_team": "attack scripts are tests of the code; a build does not run them on its tasks",
    **dict.fromkeys(("refusals", "guessing", "contamination"), "the version has no such report"),
}
_RATES = (
    *("in_band", "verified", "reference_gold", "sample_wins_nothing", "noop_wins_nothing", "scripts_repeat"),
    *("renders_equal_bytes", "best_solver_gold", "adversary_gold", "reader_gold", "search_gold"),
)
_MEANS = ("difficulty", "difficulty_width", "search_gap", "single_column_gap")


def _figures(found: GroupCounts, seconds: Mapping[str, Mapping[str, Any]]) -> GroupFigures:
    """Return the figures of counts, with the processor seconds of the tasks by id."""
    known = [seconds[task_id] for task_id in found.ids if seconds.get(task_id, {}).get("cpu_s_p50") is not None]
    names = [name for name in ScriptSeconds.model_fields if name != "task_id"]
    return GroupFigures.explain(
        REASONS,
        tasks=found.tasks,
        designs=found.designs,
        **{name: dict(sorted(found.names[name].items())) for name in ("bands", "ceilings", "training_draws")},
        **{name: Rate.among(*found.rate(name)) for name in _RATES},
        **{name: _mean(found.values[name]) for name in _MEANS},
        bracket_width=_quantiles(found.values["bracket_width"]),
        script_seconds={name: _quantiles([one[name] for one in known]) for name in names} if known else None,
    )


def count_fields(release: StoredRelease, counts: ReleaseCounts) -> dict[str, Any]:
    """Return the fields that follow from records."""
    seconds = {row["task_id"]: row for row in release.durations()}
    kinds = {name: _figures(counts.by_kind[name], seconds) for name in sorted(counts.by_kind)}
    return {"figures": _figures(counts, seconds), "kinds": kinds, "duplicates": counts.duplicates}


def certify(release: StoredRelease, counts: ReleaseCounts) -> dict[str, bytes]:
    """Write certificate and croissant.json of a version whose records were counted. Equal content gives equal bytes."""
    made = Certificate.explain(
        REASONS, red_team=None, **public_fields(release), **report_fields(release), **count_fields(release, counts)
    )
    return {CERTIFICATE: (made.model_dump_json(indent=1) + "\n").encode(), CROISSANT: croissant(release.manifest)}


def public_fields(release: StoredRelease) -> dict[str, Any]:
    """Return the fields that follow from the manifest and the public half."""
    manifest = release.manifest
    named = {name: getattr(manifest, name) for name in ("dataset", "version", "content", "tasks", "code_version")}
    files = dict(sorted((part.path, part.sha256) for part in manifest.parts if part.path not in _DERIVED))
    return named | {"agent_env": manifest.agent_env, "files": files, "prose": shared_prose(release)}


def shared_prose(release: StoredRelease) -> Counts:
    """Count the sentences of prompts that several tasks have."""
    chosen = release.task_ids[:_COMPARED]
    found: Counter[str] = Counter()
    prompts: Counter[str] = Counter()
    for row in release.read_columns("public/tasks", ["task_id", "prompt"], chosen):
        prompts[row["prompt"]] += 1
        sentences = (" ".join(sentence.split()) for sentence in _SENTENCE.split(row["prompt"]))
        found.update({sentence for sentence in sentences if sentence.count(" ") >= _LEAST_WORDS - 1})
    shared = sum(number for number in found.values() if number > 1)
    equal = prompts.total() - len(prompts)
    return {"tasks": len(chosen), "sentences": found.total(), "shared": shared, "equal_prompts": equal}


def report_fields(release: StoredRelease) -> dict[str, Any]:
    """Return the fields that follow from the reports; null where the version has none."""
    seeds, guessing = (json.loads(release.report(f"{name}.json") or b"null") for name in ("seeds", "guessing"))
    refusals = Counter(one.reason for one in release.rejections() if one.stage is Stage.CHECK)
    used = seeds.get("used", []) if seeds else []
    contamination = Contamination(
        statement=STATEMENT,
        seeds=len(used),
        compared_seeds=sum(bool(seed.get("guard")) for seed in used),
        equal_rows_refused=refusals["seed_rows"],
    )
    return {
        "refusals": dict(sorted((+refusals).items())) if release.parts("reports/rejections") else None,
        "guessing": guessing,
        "contamination": contamination if seeds else None,
        "libraries": read_overview(release).libraries,
    }


def certificate_problems(release: StoredRelease, *, public_only: bool, public_key: Path | None) -> list[str]:
    """Compute the certificate again from the bytes of a version, and check its signature. Returns problems.

    Without the private half or the reports, the figures that follow from them are not compared.
    """
    content, signature = map(release.read_file, (CERTIFICATE, SIGNATURE))
    if content is None:
        return [f"{CERTIFICATE}: the version has none. Versions of older code lack it"]
    problems = [fault] if public_key and (fault := signature_fault(public_key, content, signature)) else []
    try:
        said = Certificate.model_validate_json(content)
    except ValidationError as error:
        return [*problems, f"{CERTIFICATE}: cannot be read: {first_fault(error)}"]
    try:
        found = _computed_again(release, public_only=public_only)
    except (ArithmeticError, AttributeError, DegenerateTask, TypeError, ValueError) as error:
        # Records and reports of a stranger may hold anything that their models admit.
        return [*problems, f"{CERTIFICATE}: no figures follow from records and reports: {type(error).__name__}"]
    differing = [line for name, value in found.items() for line in _differences(name, getattr(said, name), value)]
    more = [f"and {len(differing) - _SHOWN} more differences"] if len(differing) > _SHOWN else []
    return problems + [f"{CERTIFICATE}: {line}" for line in (*differing[:_SHOWN], *more)]


def _computed_again(release: StoredRelease, *, public_only: bool) -> dict[str, Any]:
    found = public_fields(release)
    if not public_only:
        counts = ReleaseCounts()
        for row in release.read_columns("private/tasks", ["task_id", "digest", "record"]):
            counts.add(read_record(row))
        found |= count_fields(release, counts)
        if release.readable_report(BUILD_REPORT) is not None:
            found |= report_fields(release)
    return found


def sign_certificate(release: StoredRelease, key: Path | None) -> dict[str, bytes]:
    """Sign the stored certificate of a version; nothing without a key."""
    content = release.read_file(CERTIFICATE)
    return {SIGNATURE: sign(key, content)} if key and content is not None else {}


def describe_signature(release: StoredRelease, public_key: Path | None) -> str:
    """Say what a certificate without problems proves."""
    if public_key:
        return f"signed by the key {public_key}"
    is_signed = any(part.path == SIGNATURE for part in release.manifest.parts)
    return f"{'signature not checked, no --public-key' if is_signed else 'unsigned'}: proves consistency, not origin"


def _differences(name: str, said: Any, found: Any) -> Iterator[str]:
    said, found = (one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in (said, found))
    if isinstance(said, dict) and isinstance(found, dict):
        for key in sorted(said.keys() | found.keys()):
            yield from _differences(f"{name}.{key}", said.get(key), found.get(key))
    elif said != found:
        yield f"{name} is {said!r:.80}; the files give {found!r:.80}"


def _mean(values: Sequence[float]) -> Mean | None:
    if not values:
        return None
    middle, half = fmean(values), 1.6449 * stdev(values) / sqrt(len(values)) if len(values) > 1 else None
    ends = (None, None) if half is None else (round(middle - half, 6), round(middle + half, 6))
    return Mean(value=round(middle, 6), low=ends[0], high=ends[1], tasks=len(values))


def _quantiles(values: Sequence[float]) -> Quantiles | None:
    if not values:
        return None
    p50, p95, p99 = np.quantile(values, (0.5, 0.95, 0.99)).round(4).tolist()
    return Quantiles(p50=p50, p95=p95, p99=p99, tasks=len(values))
