"""Look for what sound files give away beside what is to be heard."""

from collections.abc import Iterator

import polars as pl

from sandmill.errors import count
from sandmill.kinds.files.item_files import sound_chunks

_CHUNKS = {b"FORM": (b"COMM", b"SSND"), b"RIFF": (b"fmt ", b"data")}
"""Chunks of a file without remarks, markers or other metadata, in their order."""


def audio_findings(train: pl.Series, test: pl.Series) -> Iterator[str]:
    """Check that all sounds have the same form, rate and length, and hold samples alone.

    Args:
        train: files of the training recordings.
        test: files of the test recordings.
    """
    sounds = [bytes(sound) for sound in (*train, *test)]
    forms = [_form(sound) for sound in sounds]
    if broken := forms.count(None):
        yield f"{count(broken, 'sound')} not of a header and samples alone"
    if (kinds := len(set(forms) - {None})) > 1:
        yield f"sounds of {kinds} formats, rates or lengths; expected one, so that sizes of files tell nothing"


def _form(sound: bytes) -> tuple[bytes, int] | None:
    """Return the bytes that state format, rate and length, or None if the file holds anything else."""
    order, expected = ("<" if sound.startswith(b"RIFF") else ">"), _CHUNKS.get(sound[:4])
    try:
        chunks = list(sound_chunks(sound, order))
    except ValueError:
        return None
    whole = 12 + sum(8 + len(content) + len(content) % 2 for _, content in chunks)
    if tuple(name for name, _ in chunks) != expected or whole != len(sound):
        return None
    return sound[8:12] + chunks[0][1], len(sound)
