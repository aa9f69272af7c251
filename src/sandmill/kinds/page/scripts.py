"""Scripts that clean pages or mark regions of pictures, as they are published with a task."""

from collections.abc import Sequence

from sandmill.kinds.library import load_texts
from sandmill.kinds.page.filters import over_background, smooth, stretch
from sandmill.kinds.page.regions import best_limit, region_features, tidied
from sandmill.kinds.page.regressions import boosting, features, moved_back, patches, series_of, some
from sandmill.kinds.panel import OwnScript
from sandmill.kinds.script_text import functions_source, spaced
from sandmill.models.calibration import Rung
from sandmill.models.channel import Cue
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric

TEXTS = "page/scripts.yaml"
_FUNCTIONS = (
    *(moved_back, smooth, stretch, patches, some, boosting),
    *(over_background, features, region_features, best_limit, tidied),
)
"""Functions of the library that scripts use."""


def ladder(facts: TaskFacts, data: object, cues: Sequence[Cue] = ()) -> tuple[OwnScript, ...]:
    """Return the scripts that may be published with a task, the preferred ones of each rung first.

    The reference undoes the slips that cues state, after it has read the pages.
    """
    series, made, texts = series_of(cues), [], load_texts(TEXTS)[facts.kind]
    for script in texts["ladder"]:
        rung, approach = Rung(script["rung"]), script["approach"]
        first, *others = (texts["parts"][name] for name in script["parts"])
        if rung is Rung.REFERENCE and series:
            approach = f"lines moved back by the stated slips, then {approach}"
            first += texts["undo"].replace("{slips}", str(series))
        made.append(OwnScript(rung, approach, _source(facts, approach, "\n".join([first, *others]))))
    return tuple(made)


def _source(facts: TaskFacts, approach: str, body: str) -> str:
    """Return a script: a head with what the task asks for, then its body. Imports that nothing names are left out."""
    shared = load_texts(TEXTS)
    texts = shared[facts.kind]
    head, save = f"{shared['head']}\n\n", texts["save"]
    used = functions_source(*(one for one in _FUNCTIONS if f"{one.__name__}(" in body))
    blocks = spaced("\n".join([shared["scores"][facts.metric] if "score)" in body else "", *used, body]))
    imports = (line for name, line in shared["imports"].items() if name in blocks or name in head + save)
    head = head.format(
        asked=texts["asked"].format(target=facts.target_column),
        better=texts["better"],
        items=texts["items"],
        target=facts.target_column,
        metric=get_metric(facts.metric).title,
        approach=approach,
        imports="\n".join(imports),
        id=facts.id_column,
    )
    return f"{head}{save}\n{blocks}"
