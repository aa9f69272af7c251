"""The screen of a preview: designs, samples of their rows, and the cost of the build."""

from sandmill.cli.screen import open_console
from sandmill.design.llm import Refused
from sandmill.errors import count
from sandmill.pipeline.preview import Preview, Shown


def show_preview(preview: Preview) -> None:
    """Print designs, rules included, and costs."""
    console, designs = open_console(), len(preview.shown)
    costs = (
        f"{designs} of {preview.slots} designs. All of them: {preview.low_usd:.4f} to {preview.high_usd:.4f} USD; "
        f"paid so far: {preview.paid_usd:.4f} USD. What was answered is kept: the build does not pay for it again."
    )
    for line in (*(line for one in preview.shown for line in _lines(one)), costs):
        console.print(line)


def _lines(one: Shown) -> list[str]:
    slot = one.outcome.slot
    tokens = one.usage.prompt_tokens + one.usage.answer_tokens
    cost = f"{count(one.usage.requests, 'request')}, {count(tokens, 'token')}, {one.usage.usd:.4f} USD"
    head = f"Slot {slot.number}, from {slot.seed.id}, wanted {slot.band}: {cost}"
    if isinstance(one.outcome, Refused):
        return [head, f"  refused: {one.outcome.reason}: {one.outcome.detail}", ""]
    draft, world = slot.draft, slot.world
    if world:
        baselines = f"  baselines: {'; '.join(world.baselines)}"
        return [head, f"  {world.title}: {world.row}", *(f"  {sentence}" for sentence in world.overview), baselines, ""]
    if draft is None:
        return [head, ""]
    rule = "; ".join(f"{choice.kind} of {' and '.join(choice.columns)}" for choice in draft.motifs)
    return [
        head,
        f"  {draft.domain.title}: {draft.domain.row}, by {draft.metric}, split {draft.split}",
        *(f"  {sentence}" for sentence in draft.domain.overview),
        f"  rule: {rule}",
        f"  baselines: {'; '.join(draft.baselines)}",
        *(f"  | {line}" for line in one.sample.splitlines()),
        "",
    ]
