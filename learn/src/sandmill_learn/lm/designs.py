"""Designs as tables of the folder: files, answers, ends of the gap, arrays of the rule, prompts and demonstrations."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.readers import stated_facts
from sandmill.draw import Rendered, render
from sandmill.errors import ItemRejected
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.mechanism.fact_components import fact_components
from sandmill.models.base import Band
from sandmill.models.faults import MixedTypes
from sandmill.models.hints import DATA_DICTIONARY, Form, InText, SameUnits
from sandmill.models.package import TaskFacts
from sandmill.models.plan import Attempt, Slot
from sandmill.models.request import BuildRequest
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.structure import Structure, TargetKind
from sandmill.pipeline.attempt import AttemptJob, _design
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.play.fresh import measure_ends
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.seeds import ingest
from sandmill.verify.records import held_out_motifs
from sandmill_learn.lm.demonstrations import STYLES, Texted, demonstration, fact_lines
from sandmill_learn.lm.grading import FORMS
from sandmill_learn.lm.texts import Source, exchange, prompt_of, without_facts

SECRET, NAME = bytes(32), "lm"
_HELD_OUT_DOMAINS = 0.2
"""Share of domains that training never sees."""
_SIZES = Sizes(train=150, feedback=100, final=400)
_MOST_COLUMNS, _PROMPT_TOKENS, _ANSWER_TOKENS = 34, 1_200, 520
_SOME, _BLIND = 4, 3
"""Styles of demonstrations with some and with none of the facts, of designs that state any."""
_LEAST_GAP = 0.08
"""Designs whose oracle is better by a smaller share of the trivial score are left out."""


@dataclass(frozen=True)
class Design:
    """One drawn design."""

    number: int
    domain: str
    is_held_out: bool
    is_hinted: bool
    """Whether the texts state a fact that the rule uses."""
    row: dict[str, Any]
    """Fields of a `Table`."""
    answers: list[str]
    """Demonstrations in several styles, with all, some or none of the stated facts."""
    scripts: dict[str, str]
    """Demonstrations with all (`read STYLE`) and with none (`blind STYLE`) of the facts."""
    arrays: dict[str, Any] = field(default_factory=dict)


_MIX = {Band.EASY: 0.2, Band.MEDIUM: 0.45, Band.HARD: 0.25, Band.EXPERT: 0.1}
"""Most tables state one fact or two, which a small model can use within its answer."""


@cache
def slots_of(number: int, seed: int, reading: str) -> tuple[Slot, ...]:
    """Plan slots of tables, and keep those whose seed asks for few columns and one target."""
    levels = {level: float(share) for level, _, share in (part.partition("=") for part in reading.split(","))}
    request = BuildRequest.model_validate(
        {"name": NAME, "tasks": number, "seed": seed, "kinds": {"table": 1.0}, "mix": _MIX, "reading": levels}
    )
    return tuple(slot for slot in plan_slots(plan_build(request, ingest(()))) if _can_fit(slot.seed.structure))


def _can_fit(structure: Structure) -> bool:
    mix = structure.columns
    is_single = structure.target not in (TargetKind.MULTILABEL, TargetKind.MULTI_TARGET)
    return is_single and mix.numeric + mix.categorical + mix.date <= _MOST_COLUMNS


@cache
def tokenizer_at(path: str) -> Any:
    """Return the tokenizer, which counts the tokens of prompts."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(path)


def tokens_of(path: str, text: str) -> int:
    """Return the number of tokens of a text."""
    return len(tokenizer_at(path).encode(text, add_special_tokens=False).ids)


def draw_design(job: tuple[int, int, int, str, str]) -> Design | str:
    """Draw one design, or say why it is left out.

    Args:
        job: number of the slot, slots in all, seed, path of the tokenizer, and shares of the levels of reading.
    """
    number, total, seed, path, reading = job
    slots = slots_of(total, seed, reading)
    if number >= len(slots):
        return "no slot"
    slot = slots[number]
    attempt = Attempt(slot, 0, 1, 0, first_hardness(slot.seed.structure, slot.band), any_band=True)
    try:
        spec = _design(AttemptJob(attempt, f"{NAME} {seed}", SECRET)).model_copy(update={"sizes": _SIZES})
        if reason := _unfit(spec):
            return reason
        made = render(spec, SECRET)
        return _design_of(number, spec, made, path)
    except ItemRejected as error:
        return error.reason


def _unfit(spec: TaskSpec) -> str:
    from sandmill.draw.task_facts import task_facts

    if task_facts(spec).encoding not in FORMS:
        return "answer form"
    if any(isinstance(hint.fact, InText) for hint in spec.hints):
        # The patterns of notes are seen only in examples, which a short prompt does not show.
        return "values in notes"
    if any(isinstance(fault, MixedTypes) for fault in spec.mechanism.pathologies):
        return "numbers with units"
    return "columns" if len(spec.feature_columns) > _MOST_COLUMNS else ""


def _design_of(number: int, spec: TaskSpec, made: Rendered, path: str) -> Design | str:
    package = made.package
    final, feedback = measure_ends(made)
    if final is None or feedback is None:
        return "oracle"
    metric, answers = get_metric(spec.metric), made.answers
    public = {name: content.decode() for name, content in package.public.items()}
    trivial = metric.rounded(answers.truth, constant_prediction(package.facts, public, answers.truth))
    oracle = metric.rounded(answers.truth, made.oracle)
    sign = -1 if metric.is_lower_better else 1
    if sign * (oracle - trivial) < _LEAST_GAP * max(abs(trivial), abs(oracle)):
        return "narrow gap"
    stated = stated_facts(spec, package.public)
    texts = {name: text for name, text in public.items() if name.endswith(".csv")}
    source = Source(public[DESCRIPTION], public.get(DATA_DICTIONARY, ""), texts, package.facts, spec.hints)
    brief = tokens_of(path, prompt_of(source)) > _PROMPT_TOKENS
    prompt = prompt_of(source, brief=brief)
    if tokens_of(path, prompt) > _PROMPT_TOKENS:
        return "long prompt"
    train = pd.read_csv(StringIO(public["train.csv"]))
    hints = [hint for hint in spec.hints if hint.fact in stated.facts]
    # Cells are decoded first. Forms follow in the order of the prompt.
    hints.sort(key=lambda hint: (isinstance(hint.fact, Form | SameUnits), prompt.find(hint.text)))
    told = Texted(replace(stated, facts=tuple(hint.fact for hint in hints)), [hint.text for hint in hints])
    use = _that_fit(package.facts, train, told, path)
    scripts = lessons_of(package.facts, train, told, use)
    lengths = {name: tokens_of(path, script) for name, script in scripts.items()}
    facts = facts_of(told, [hint.matters for hint in hints], train)
    names, components = fact_components(spec.mechanism, made.test_draw.observed, spec.hints)
    prompts: dict[str, str] = {}
    if stated.facts:
        numeric = [str(name) for name in train.columns if pd.api.types.is_numeric_dtype(train[name])]
        numeric = [name for name in numeric if name not in (package.facts.id_column, package.facts.target_column)]
        other, swap = exchange(source, numeric, number)
        prompts = {
            "removed": prompt_of(without_facts(source), brief=brief),
            "exchanged": prompt_of(other, brief=brief),
        }
        facts = [fact | {"exchanged": [swap(line) for line in fact["lines"]]} for fact in facts]
    row = {
        "name": package.task_id,
        "group": "",
        "prompt": prompt,
        "public": texts,
        "task": task_of(package.facts),
        "form": package.facts.encoding,
        "metric": str(spec.metric),
        "truth": [round(float(value), 6) for value in answers.truth],
        "ids": list(answers.ids),
        "trivial": trivial,
        "oracle": oracle,
        "bars": [0.35, 0.55, 0.75, 1.0],
        "prompts": prompts,
        "facts": facts,
        "seed": spec.domain,
        "components": list(names),
    }
    domain_place = Streams(SECRET, "hold-outs").uniforms(f"domain {spec.domain}", range(1))[0]
    is_held_out = bool(domain_place < _HELD_OUT_DOMAINS or held_out_motifs(SECRET) & set(spec.mechanism.motif_names))
    usable = components.shape[1] > 0 and made.oracle.dtype.kind == "f" and made.oracle.ndim == 1
    arrays: dict[str, Any] = {}
    if usable:
        arrays = {"components": components.astype(np.float32), "oracle": made.oracle.astype(np.float32)}
        arrays["covariates"] = covariates_of(public["test.csv"], package.facts.id_column)[1]
    return Design(
        number,
        spec.domain,
        is_held_out,
        any(hint.matters and isinstance(hint.fact, Form) for hint in spec.hints),
        row,
        _taught({name: script for name, script in scripts.items() if lengths[name] <= _ANSWER_TOKENS}, number),
        {name: script for name, script in scripts.items() if not name.startswith("some")},
        arrays,
    )


def _that_fit(facts: TaskFacts, train: pd.DataFrame, told: Texted, path: str) -> list[int]:
    """Return the places of the facts that a script has room for, the shortest first, in the order of the text."""
    base = tokens_of(path, demonstration(facts, train, told, "blend", use=()))
    sizes = {place: tokens_of(path, "\n".join(fact_lines(told, place, train))) for place in range(len(told.texts))}
    kept, total = list[int](), base
    for place in sorted(sizes, key=lambda one: sizes[one]):
        total += sizes[place] + 2
        if sizes[place] and total <= _ANSWER_TOKENS:
            kept.append(place)
    return sorted(kept)


def lessons_of(facts: TaskFacts, train: pd.DataFrame, told: Texted, use: Sequence[int]) -> dict[str, str]:
    """Return demonstrations by name: `blind STYLE`, `read STYLE`, and `some STYLE` where several facts are used."""
    found = {f"blind {style}": demonstration(facts, train, told, style, use=()) for style in STYLES}
    found |= {f"read {style}": demonstration(facts, train, told, style, use=use) for style in STYLES}
    if len(use) > 1:
        for place, style in enumerate(STYLES[:_SOME]):
            some = [one for one in use if one != use[place % len(use)]]
            found[f"some {style}"] = demonstration(facts, train, told, style, use=some)
    return found


def _taught(scripts: dict[str, str], number: int) -> list[str]:
    """Leave out blind scripts in some styles where others read: the start should read often."""
    styles = [STYLES[(number + step) % len(STYLES)] for step in range(_BLIND)]
    blind = {script for name, script in scripts.items() if name.startswith("blind")}
    kept = {scripts[f"blind {style}"] for style in styles if f"blind {style}" in scripts}
    if all(script in blind for script in scripts.values()):
        kept = blind
    return [script for script in dict.fromkeys(scripts.values()) if script not in blind or script in kept]


def facts_of(told: Texted, matters: Sequence[bool], train: pd.DataFrame) -> list[dict[str, Any]]:
    """Describe each stated fact that has lines: its kind, the lines, and whether the rule uses it."""
    found = []
    for place, fact in enumerate(told.stated.facts):
        lines = fact_lines(told, place, train)
        kind = fact.motif.motif if isinstance(fact, Form) else fact.fact
        if lines:
            found.append({"kind": kind, "lines": lines, "matters": matters[place]})
    return found


def task_of(facts: TaskFacts) -> dict[str, Any]:
    """Return what the copied grader needs to know of a submission."""
    from sandmill.export.grader import _range_of

    low, high = _range_of(facts)
    return {
        "id_column": facts.id_column,
        "columns": list(facts.submission_columns),
        "target_columns": list(facts.target_columns),
        "classes": list(facts.classes),
        "places": facts.places,
        "low": low,
        "high": high,
        "cell_bytes": form_of(facts).cell_bytes(facts),
    }


def constant_prediction(facts: TaskFacts, public: dict[str, str], truth: Any) -> Any:
    """Return the best constant prediction that training rows suggest: that of the trivial solver of the panel."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from sandmill.calibrate.panel import TRIVIAL, run_panel

    with TemporaryDirectory(prefix="sandmill-lm-") as name:
        for path, text in public.items():
            (Path(name) / path).write_text(text, encoding="utf-8")
        (trivial,) = run_panel(Path(name), facts, [TRIVIAL])
    return trivial.prediction


def covariates_of(test: str, id_column: str) -> tuple[list[str], Any]:
    """Return names and values of what a blind script knows of test rows: numbers, and flags of levels."""
    frame = pd.read_csv(StringIO(test)).drop(columns=[id_column])
    words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    frame = frame.drop(columns=[name for name in words if frame[name].nunique() > 20])
    made = pd.get_dummies(frame).astype(float)
    made = made.fillna(made.median()).fillna(0.0)
    made = (made - made.mean()) / (made.std() + 1e-9)
    return [str(name) for name in made.columns], made.clip(-5, 5).to_numpy(np.float16)
