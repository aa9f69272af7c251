"""Write what the items of a task show, as a list of quantities that people would note down."""

from sandmill.draw.wording import Wording
from sandmill.kinds.files.base import Layout
from sandmill.models.spec import TaskSpec


def cues_text(spec: TaskSpec, layout: Layout, words: Wording) -> str:
    """List how each latent column shows; empty if the channel does not say it.

    The list names what matters and what does not, in the order of the style.
    """
    cues = [cue for cue in (spec.channel.cues if spec.channel else ()) if cue.place == "list"]
    if not cues:
        return ""
    opening = words.say("cues", **words.names_of(layout.item))
    return "\n".join([opening, "", *(f"- `{cue.column}`: {cue.text}" for cue in words.shuffled("cues", cues))])
