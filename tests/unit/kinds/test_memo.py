import inspect

import numpy as np
import pandas as pd
import pytest

from sandmill.kinds import memo


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(memo, "_arrays", type(memo._arrays)())
    monkeypatch.setattr(memo, "_files", type(memo._files)())
    monkeypatch.setattr(memo, "_rows", type(memo._rows)())


def twice(values, by=2):
    asked.append(values.shape)
    return values * by


def length(path):
    asked.append(path.name)
    return len(path.read_bytes())


asked = []


def test_a_function_of_an_array_is_computed_once_for_equal_content(monkeypatch):
    asked.clear()
    wrapped, values = memo.once(twice), np.arange(6.0)
    assert wrapped(values).tolist() == wrapped(values.copy()).tolist() == [0, 2, 4, 6, 8, 10]
    assert asked == [(6,)]
    assert wrapped(values, 3).tolist() != wrapped(values.reshape(2, 3)).tolist()
    assert asked == [(6,), (6,), (2, 3)]
    assert inspect.getsource(wrapped) == inspect.getsource(twice)


def test_a_function_of_a_file_is_computed_once_for_equal_content(tmp_path):
    asked.clear()
    paths = [tmp_path / name for name in "abc"]
    for path, content in zip(paths, (b"xx", b"y", b"xx"), strict=True):
        path.write_bytes(content)
    assert [memo.once_a_file(length)(path) for path in paths] == [2, 1, 2]
    assert asked == ["a", "b"]


def test_the_oldest_results_are_forgotten(monkeypatch):
    asked.clear()
    monkeypatch.setattr(memo, "MOST_ARRAYS", 2)
    wrapped = memo.once(twice)
    for number in (1.0, 2.0, 3.0, 3.0, 1.0):
        wrapped(np.array([number]))
    assert len(asked) == 4


def sums(values, name):
    asked.append(values.shape)
    return pd.DataFrame({name: values.sum(axis=1), "text": [f"{value:g}" for value in values[:, 0]]})


def test_a_function_of_rows_is_computed_once_for_each_row():
    asked.clear()
    wrapped, values = memo.once_a_row(sums), np.arange(8.0).reshape(4, 2)
    wrapped(values[:2], "sum")
    pd.testing.assert_frame_equal(wrapped(values[[3, 1, 3]], "sum"), sums(values[[3, 1, 3]], "sum"))
    assert asked[:2] == [(2, 2), (1, 2)]
    assert list(wrapped(values, "other")) == ["other", "text"]
