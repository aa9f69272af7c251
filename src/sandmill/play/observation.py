"""Write what an agent reads after a step, and estimate how long a text is."""

import re
from bisect import bisect_right

from sandmill.errors import visible
from sandmill.models.english import SPECIAL_TOKEN
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Action, EpisodeLimits, Step

MOST_CHARACTERS = 4000
"""Of each output stream that an observation shows; the end is kept, and of a long text its beginning too."""
_HEAD = 1000
_TICKS = re.compile("`+")

_FAILED = {
    Outcome.RUNTIME_ERROR: "The script failed.",
    Outcome.NO_CODE: "There was no code to run.",
    Outcome.NO_SUBMISSION: "The script ended without an error. It wrote no submission.csv in this step.",
    Outcome.INVALID_SUBMISSION: "The script ended without an error. Its submission.csv is not valid.",
    Outcome.TIMEOUT: "The script was ended, because it ran too long.",
    Outcome.OOM: "The script was ended, because it needed too much memory.",
    Outcome.TAMPER: "The script left a submission.csv that is not an ordinary file.",
    Outcome.INFRA_ERROR: "The sandbox failed.",
}
_VALID = "The script ended without an error. Its submission.csv is valid, so it counts at the end."
BYTES_PER_TOKEN = 3
"""Low on purpose, so that estimates are too high: English text has about 4 bytes a token, Python code about 3.5."""


def observe(step: Step, limits: EpisodeLimits, used_s: float, is_over: bool) -> str:
    """Return the result of a step as a text, after `used_s` seconds of runs. It shows nothing of the final part."""
    lines: list[str] = []
    if step.action is Action.RUN:
        assert step.outcome is not None
        lines = [f"Step {step.number}, {step.duration_s:.1f} s. {_FAILED.get(step.outcome, _VALID)}"]
        if step.detail:
            lines.append(f"Detail: {escape_marks(step.detail)}")
        lines += [f"- {escape_marks(problem)}" for problem in step.problems]
        for name, text in (("Standard output", step.stdout), ("Standard error", step.stderr)):
            if text.strip():
                lines.append(f"{name}:\n{fence(shorten_output(escape_marks(text)))}")
    elif step.action is Action.SUBMIT:
        none = "No feedback: run a script that writes submission.csv first."
        lines = [step.feedback.message if step.feedback else none]
    if is_over:
        lines.append("The episode has ended.")
    else:
        seconds = max(0.0, limits.time_budget - used_s)
        lines.append(f"Steps left: {limits.max_steps - step.number}. Seconds of running time left: {seconds:.0f}.")
    return "\n".join(lines)


def escape_marks(text: str) -> str:
    """Make a text that a script wrote harmless to a server of a model.

    A backslash after its first character breaks a special token. Characters that are not printable, such as ESC, half
    of a surrogate pair and marks of direction, become their escapes.
    """
    return SPECIAL_TOKEN.sub(lambda found: f"{found[0]}\\", visible(text, keep="\n\t"))


def fence(text: str, language: str = "") -> str:
    """Quote a text. The fence is longer than any row of backticks in it."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def shorten_output(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return beginning and end of a long text. Errors stand at the end, so that most of it is kept."""
    text = text.rstrip("\n")
    if len(text) <= most:
        return text
    return f"{text[:_HEAD]}\n[{len(text) - most} characters left out]\n{text[_HEAD - most :]}"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for each digit, and one for each 3 bytes of everything else.

    Several tokenizers give each digit a token of its own. The estimate is too high rather than too low.
    """
    digits = sum(map(text.count, "0123456789"))
    return digits - (-(len(text.encode(errors="replace")) - digits) // BYTES_PER_TOKEN)


def shorten_middle(text: str, most_tokens: int) -> str:
    """Leave out the middle of a text so that its estimate is at most `most_tokens`. The end is longer than the start.

    A limit that is too small even for the note of the omission gives an empty text.
    """

    def without_middle(kept: int) -> str:
        head = kept // 3
        return f"{text[:head]}\n[{len(text) - kept} characters left out]\n{text[len(text) - kept + head :]}"

    if estimate_tokens(text) <= most_tokens:
        return text
    kept = bisect_right(range(1, len(text) + 1), most_tokens, key=lambda kept: estimate_tokens(without_middle(kept)))
    return without_middle(kept) if kept else ""
