"""Designs of domains with knowledge, which state hints."""

from functools import cache
from unittest.mock import patch

from sandmill.design import design_task, grammar
from sandmill.design.telling import tell
from sandmill.draw import Rendered, render
from sandmill.kinds.library import load_domains
from sandmill.models.base import Band
from sandmill.models.hints import Form, ReadingLevel
from sandmill.models.knowledge import Knowledge
from sandmill.models.plan import Slot
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, make_seed, with_small_test

BINARY, NUMBER = (TargetKind.BINARY, MetricName.ROC_AUC), (TargetKind.REGRESSION, MetricName.RMSE)
KNOWING = tuple(domain for domain in load_domains() if domain.knows.targets)


def design(slot: int, hardness: float, task: tuple[TargetKind, MetricName] = BINARY, *, knows: bool = True) -> TaskSpec:
    """A design of a domain with knowledge, or of the same domain without it."""
    domain = KNOWING[slot % len(KNOWING)]
    used = domain if knows else domain.model_copy(update={"knows": Knowledge()})
    with patch.object(grammar, "at", lambda *_: used):
        streams = Streams(SECRET, f"hinted {slot}")
        return design_task(Slot(number=slot, seed=make_seed(*task), band=Band.HARD), streams, hardness)


@cache
def hinted(slot: int, hardness: float = 0.5, task: tuple[TargetKind, MetricName] = BINARY) -> TaskSpec:
    return design(slot, hardness, task)


@cache
def hinted_at(level: ReadingLevel, slot: int, hardness: float = 0.7) -> TaskSpec:
    """A design whose facts are stated at a level of reading."""
    with patch.object(grammar, "tell", lambda *given, **how: tell(*given[:-1], level, **how)):
        return design(slot, hardness)


@cache
def small_rendered_at(level: ReadingLevel, slot: int) -> Rendered:
    return render(with_small_test(hinted_at(level, slot)), SECRET)


@cache
def small_rendered(slot: int, task: tuple[TargetKind, MetricName] = BINARY) -> Rendered:
    return render(with_small_test(hinted(slot, 0.5, task), 300, 600), SECRET)


def told(spec: TaskSpec) -> list[Form]:
    return [hint.fact for hint in spec.hints if isinstance(hint.fact, Form) and hint.matters]
