import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.publishing import publish_numbers


@pytest.fixture
def release(tmp_path) -> str:
    publish_numbers(Store(str(tmp_path / "micro")), range(2), range(2, 4))
    return str(tmp_path / "micro")


def test_checking_hashes_tells_how_far_it_is(release):
    calls: list[tuple[int, int]] = []
    opened = load(release)
    assert verify_hashes(opened, progress=lambda done, total: calls.append((done, total))) == []
    assert {total for _, total in calls} == {2 * len(opened.manifest.parts)}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[0][0] == 0
    assert calls[-1][0] > len(opened.manifest.parts)
