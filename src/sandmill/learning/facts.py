"""Coarse facts of a task, as words that a small policy reads in place of the task's text and tables.

The same code computes them for synthetic and for real tasks. Bins are wide, so that real tasks share nearly all values
with synthetic training tasks: a word that no training task has means nothing to a policy.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.score.forms import FORMS

FACTS_VERSION = 1
"""Version of the words. Cached facts of another version are computed again."""

UNKNOWN = "unknown"
"""Value of a fact that the files do not show, such as any fact of a table where there is none."""
_STRENGTH = ("none", "weak", "some", "strong", UNKNOWN)
_AGAINST_LINEAR = ("worse", "equal", "better", UNKNOWN)
_SWITCH = ("no", "yes", UNKNOWN)

FACT_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "target": tuple(TargetKind),
        "form": tuple(FORMS),
        "metric": tuple(MetricName),
        "classes": ("none", "2", "3-4", "5+"),
        "balance": ("none", "even", "uneven", "rare", UNKNOWN),
        "rows": ("under-90", "90-129", "130-169", "170+", UNKNOWN),
        "numeric": ("0-2", "3-5", "6-9", "10+", UNKNOWN),
        "categorical": ("0", "1-2", "3+", UNKNOWN),
        "cardinality": ("low", "high", UNKNOWN),
        "missing": ("none", "some", "much", UNKNOWN),
        "dates": _SWITCH,
        "text": _SWITCH,
        "units": _SWITCH,
        "sentinels": _SWITCH,
        "child": _SWITCH,
        "dictionary": _SWITCH,
        "states": ("nothing", "formula", "condition", "both", UNKNOWN),
        "skew": ("none", "low", "high", UNKNOWN),
        "linear": _STRENGTH,
        "trees": _AGAINST_LINEAR,
        "neighbours": _AGAINST_LINEAR,
        "column": _STRENGTH,
        "noise": ("low", "middle", "high", UNKNOWN),
    }
)
"""Values of each fact, in the order in which a task's facts are listed.

`balance`: share of the rarest class against an equal share. `sentinels`: a number far outside of the others that
several rows share. `child`: a further table with several rows an item. `states`: what sentences of the description
define over columns. `linear`, `trees` and `neighbours`: out-of-fold signal of a linear model, and that of a forest and
of nearest neighbours against it. `column`: strongest association of one column. `noise`: what the best of these models
leaves.
"""

FACT_WORDS: tuple[str, ...] = tuple(f"{name}={value}" for name, values in FACT_VALUES.items() for value in values)
"""All words that can occur."""

_LOG = logging.getLogger(__name__)


def facts_of(public: Path, facts: TaskFacts) -> tuple[str, ...]:
    """Return one word for each fact, in the order of `FACT_VALUES`. Equal files give equal words.

    Files that cannot be read as tables give the values `unknown`; no file raises an error.

    Args:
        public: folder with the public files.
        facts: what the description states.
    """
    values = dict.fromkeys(FACT_VALUES, UNKNOWN)
    values |= {"target": facts.target, "form": facts.encoding, "metric": facts.metric, "classes": _classes(facts)}
    try:
        values |= _of_files(public, facts)
    except Exception:  # noqa: BLE001
        # The tables may be a stranger's. Whatever they hold, a policy gets a prompt.
        _LOG.warning("The facts of %s are unknown", public, exc_info=True)
    return tuple(f"{name}={values[name]}" for name in FACT_VALUES)


def _classes(facts: TaskFacts) -> str:
    number = len(facts.classes)
    return "none" if not number else "2" if number <= 2 else "3-4" if number <= 4 else "5+"


def _of_files(public: Path, facts: TaskFacts) -> dict[str, str]:
    from sandmill.learning.fact_columns import column_facts, read_table
    from sandmill.learning.fact_signals import signal_facts, target_facts
    from sandmill.learning.fact_texts import text_facts

    table = read_table(public, facts)
    found = text_facts(public, table.features if table else ())
    if table is None:
        return found
    return found | column_facts(table) | target_facts(table, facts) | signal_facts(table, facts)
