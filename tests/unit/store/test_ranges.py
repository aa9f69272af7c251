import io

from hypothesis import given
from hypothesis import strategies as st

from sandmill.store import bucket
from sandmill.store.bucket import RangedFile

CONTENT = bytes(range(256)) * 3


def _open(content, size, asked):
    def fetch(start, end):
        asked.append((start, end))
        return content[start:end]

    return RangedFile(fetch, lambda: len(content), size)


@given(
    tail=st.sampled_from([1, 100, 5000]),
    steps=st.lists(st.tuples(st.sampled_from(["read", "prefetch", "all"]), st.integers(0, 800), st.integers(0, 800))),
)
def test_it_reads_as_a_file_does(tail, steps):
    bucket.TAIL_BYTES, before = tail, bucket.TAIL_BYTES
    try:
        file, plain = _open(CONTENT, len(CONTENT), []), io.BytesIO(CONTENT)
    finally:
        bucket.TAIL_BYTES = before
    for act, at, length in steps:
        if act == "prefetch":
            file.prefetch(at, at + length, at + 2 * length)
            continue
        assert file.seek(at) == plain.seek(at)
        assert file.read(-1 if act == "all" else length) == plain.read(-1 if act == "all" else length)
        assert file.tell() == plain.tell()


def test_what_was_fetched_is_not_asked_for_again(monkeypatch):
    monkeypatch.setattr(bucket, "TAIL_BYTES", 100)
    asked = []
    file = _open(CONTENT, len(CONTENT), asked)
    file.prefetch(10, 50, 300)
    file.seek(20)
    assert file.read(40) == CONTENT[20:60]
    file.prefetch(200, 300, 500)
    assert asked == [(668, 769), (10, 300)]


def test_another_size_than_expected_is_told():
    for size in (len(CONTENT) - 1, len(CONTENT) + 1, 5):
        assert _open(CONTENT, size, []).seek(0, io.SEEK_END) == len(CONTENT)
