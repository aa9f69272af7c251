"""Correct scripts for every output form, of different approaches: what a policy imitates before it learns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from sandmill.fingerprint import fingerprint
from sandmill.learning.approaches import APPROACHES, Approach, Estimator
from sandmill.learning.forms import OutputForm, form_of_facts
from sandmill.learning.language import Language
from sandmill.learning.variations import vary

FragmentNames = tuple[str, ...]
"""Names of the fragments of a complete answer."""

VARIATIONS = 1
"""Scripts of each approach with other settings."""
_BALANCED = frozenset(
    {"model.logistic", "model.svc", "model.forest_classifier", "model.extra_classifier", "model.tree_classifier"}
    | {"model.hist_classifier", "model.lgbm_classifier"}
)
"""Classifiers with weights of classes."""
_COMBINE: Mapping[str, str] = {"search": "choice.search", "search_3": "choice.search_3"}


def teacher_scripts(language: Language, facts: Sequence[str]) -> list[FragmentNames]:
    """Return correct scripts for the output form of a task, the most usual first.

    After the script of each approach, as often as the weight of the approach says, there are `VARIATIONS` scripts of
    each approach with other settings and steps, so that a policy knows most fragments at least by sight. They follow
    from the facts.

    Args:
        language: of the scripts.
        facts: words of the task. `form`, `target` and `metric` are needed; others decide which columns are treated.
    """
    scripts = [
        write_script(language, approach, facts) for approach in APPROACHES.values() for _ in range(approach.weight)
    ]
    for name, approach in APPROACHES.items():
        rng = np.random.default_rng(int(fingerprint({"facts": list(facts), "approach": name}), 16))
        scripts += [write_script(language, vary(approach, rng), facts) for _ in range(VARIATIONS)]
    return scripts


def pipelines(language: Language) -> dict[str, Callable[[Sequence[str]], FragmentNames]]:
    """Return the named approaches. Each writes its script for the facts of a task."""
    return {name: partial(write_script, language, approach) for name, approach in APPROACHES.items()}


def write_script(language: Language, approach: Approach, facts: Sequence[str]) -> FragmentNames:
    """Write the script of an approach for the facts of a task."""
    known = dict(word.split("=", 1) for word in facts)
    form = form_of_facts(known)
    body = [
        *_reading(approach, known),
        *form.target,
        *_columns(approach, known),
        *_preparing(approach, form),
        *_modelling(approach, form),
        *form.answer(approach),
        "write.submission",
    ]
    return ("open", *_imports(language, body), *body, "close")


def _reading(approach: Approach, known: Mapping[str, str]) -> list[str]:
    events = ("events.read", *approach.events)
    has_events = approach.is_careful and known.get("child") == "yes"
    return [
        *("read.train", "read.test", "read.sample", "key.sample", "targets.not_in_test"),
        *(events if has_events else ()),
        "features.columns",
    ]


def _columns(approach: Approach, known: Mapping[str, str]) -> list[str]:
    """Choose fragments for the columns that the facts name. Dates are treated where the facts do not say."""
    if not approach.is_careful:
        return list(approach.derived)
    names: list[str] = []
    if known.get("sentinels") == "yes":
        names += ["sentinels.nines"]
    if approach.reads_units and known.get("dictionary") == "yes":
        names += ["read.dictionary", "sites.dictionary"]
    if known.get("units") == "yes":
        names += ["text_numbers.units"]
    if known.get("dates") != "no":
        names += ["dates.find", *approach.dates, "dates.drop"]
    # Columns are derived before texts give dozens of numbers, since pairs of these would take minutes.
    names += approach.derived
    if known.get("text") == "yes":
        names += ["texts.find", *approach.texts, "texts.drop"]
    return names


def _preparing(approach: Approach, form: OutputForm) -> list[str]:
    steps = [name.replace("*", "class" if form.is_class else "value") for name in approach.steps]
    return [
        *("numeric.open", *approach.numeric, "call.close"),
        *("words.open", *approach.words, "call.close"),
        *("prepare.open", "inputs.columns", *steps, "call.close"),
    ]


def _modelling(approach: Approach, form: OutputForm) -> list[str]:
    estimators = approach.classifiers if form.is_class else approach.regressors
    lines = [name for each in estimators for name in _line(each, is_balanced=form.is_balanced and approach.is_careful)]
    wraps = [*(() if form.is_class else approach.wraps), *form.wraps(approach)]
    if approach.combine is None:
        return ["model.open", "inputs.prepare", *lines, "call.close", *wraps]
    kind = "class" if form.is_class else "value"
    how = _COMBINE.get(approach.combine, f"choice.{approach.combine}_{kind}")
    scorer = [form.scorer] if approach.combine in _COMBINE else []
    return ["models.open", *lines, "list.close", how, *scorer, "call.close", *wraps]


def _line(estimator: Estimator, *, is_balanced: bool) -> Iterable[str]:
    weights = ("balanced",) if is_balanced and estimator[0] in _BALANCED and "balanced" not in estimator else ()
    return (*estimator, *weights, "step.end")


def _imports(language: Language, body: Sequence[str]) -> list[str]:
    """Return the imports that a script needs, in the order of the language."""
    needed = set().union(*(language.needs[name] for name in body))
    return [fragment.name for fragment in language.fragments if fragment.name in needed]
