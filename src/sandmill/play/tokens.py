"""Estimates of tokens without a tokenizer."""

BYTES_PER_TOKEN = 3
"""Low on purpose, so that estimates are too high: English text has about 4 bytes a token, Python code about 3.5."""


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
    if estimate_tokens(text) <= most_tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        kept = (low + high + 1) // 2
        if estimate_tokens(_without_middle(text, kept)) <= most_tokens:
            low = kept
        else:
            high = kept - 1
    return _without_middle(text, low) if low else ""


def _without_middle(text: str, kept: int) -> str:
    head = kept // 3
    tail = kept - head
    return f"{text[:head]}\n[{len(text) - kept} characters left out]\n{text[len(text) - tail :]}"
