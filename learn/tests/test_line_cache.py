"""The cache of lines: what a kill leaves is read, and nothing is lost."""

import pytest

from sandmill_learn.line_cache import LineCache


def test_values_are_there_for_the_next_process(tmp_path):
    path = tmp_path / "deep" / "lines.jsonl"
    one = LineCache(path)
    one.put("a", {"x": 1.5})
    one.put("b", ["ü\n"])
    one.put("a", "later")
    again = LineCache(path)
    assert (again.get("a"), again.get("b"), again.get("c"), len(again)) == ({"x": 1.5}, ["ü\n"], None, 2)


@pytest.mark.parametrize("torn", [b'{"key":"c","val', b"\x00\xff", b"[1]", b'{"key":"c"}', b'{"value":1}', b"null"])
def test_a_torn_last_line_is_ignored_and_does_not_swallow_the_next(tmp_path, torn):
    path = tmp_path / "lines.jsonl"
    LineCache(path).put("a", 1)
    with path.open("ab") as file:
        file.write(torn)
    cache = LineCache(path)
    assert (cache.get("a"), cache.get("c")) == (1, None)
    cache.put("c", 3)
    again = LineCache(path)
    assert (again.get("a"), again.get("c")) == (1, 3)


def test_two_processes_may_append_to_one_file(tmp_path):
    path = tmp_path / "lines.jsonl"
    one, other = LineCache(path), LineCache(path)
    one.put("a", 1)
    other.put("b", 2)
    one.put("c", 3)
    assert [LineCache(path).get(key) for key in "abc"] == [1, 2, 3]


def test_without_a_path_values_stay_in_memory():
    cache = LineCache(None)
    cache.put("a", 1)
    assert cache.get("a") == 1
