from sandmill.calibrate.solvers.media import memo


def test_equal_items_are_measured_once_and_results_keep_their_order(monkeypatch):
    monkeypatch.setattr(memo, "_known", type(memo._known)())
    asked = []

    def length(items):
        asked.extend(items)
        return [len(item) for item in items]

    assert memo.remembered("length", [b"aa", b"b", b"aa"], length) == [2, 1, 2]
    assert memo.remembered("length", [b"ccc", b"b"], length) == [3, 1]
    assert asked == [b"aa", b"b", b"ccc"]
    assert memo.remembered(("length", 2), [b"b"], lambda items: [9 for _ in items]) == [9]


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(memo, "_known", type(memo._known)())
    monkeypatch.setattr(memo, "MOST", 2)
    memo.remembered("length", [b"1", b"22", b"333"], lambda items: list(map(len, items)))
    assert list(memo._known.values()) == [2, 3]
