"""The screen of a preview: what a language model wrote for a task, with a rule over columns and without one."""

import asyncio

import pytest

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.cli.ending import show_preview
from sandmill.design.llm import LlmDesigner
from sandmill.models.base import Band
from sandmill.models.llm import Usage
from sandmill.models.plan import Slot
from sandmill.pipeline.preview import Preview, Shown
from sandmill.seeds import ingest
from tests.llm_asking import Scripted


@pytest.mark.parametrize(
    ("seed", "has_rule"), [("spooky-author-identification", True), ("denoising-dirty-documents", False)]
)
def test_texts_and_baselines_are_shown_and_the_rule_where_there_is_one(seed, has_rule, capsys):
    found = next(one for one in ingest(()).supported if one.id == seed)
    slot = Slot(number=0, seed=found, band=Band.HARD, place=0.3)
    (outcome,) = asyncio.run(LlmDesigner(Scripted(), 1, GIVEAWAYS).design([slot], [], "round 0"))
    shown = Shown(outcome, Usage(requests=1), "First rows, of 100 to train on:" if has_rule else "")
    show_preview(Preview((shown,), slots=5, low_usd=0.1, high_usd=0.2, paid_usd=0.02))
    printed = capsys.readouterr().out
    written = outcome.slot.draft.domain if has_rule else outcome.slot.world
    baselines = (outcome.slot.draft or outcome.slot.world).baselines
    assert f"{written.title}: {written.row}" in printed
    assert f"baselines: {'; '.join(baselines)}" in printed
    assert ("rule: " in printed) == has_rule
