import pytest

from sandmill.errors import InputError, IntegrityError
from sandmill.store.copy import copy_release
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.publishing import publish_numbers


@pytest.fixture
def release(local_store):
    publish_numbers(local_store, range(2), range(2, 4))
    return load(local_store.root)


def test_a_copy_holds_every_byte_and_is_the_latest_version_there(release, tmp_path):
    copied = copy_release(release, str(tmp_path / "root"))
    assert copied.ref == f"{tmp_path}/root/micro@{release.version}"
    found = load(f"{tmp_path}/root/micro")
    assert (found.manifest, verify_hashes(found)) == (release.manifest, [])
    assert (tmp_path / "root" / "micro" / release.version / "private").stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_a_copy_to_a_bucket_and_back_holds_every_byte(release, s3_root, tmp_path):
    there = copy_release(release, f"{s3_root}/copies")
    back = copy_release(load(there.store.root), str(tmp_path / "back"))
    assert verify_hashes(back) == []
    assert back.manifest == release.manifest


def test_a_killed_copy_is_not_seen_and_goes_on_where_it_stopped(release, tmp_path, monkeypatch):
    written, write = [], Store.write

    def die_at_the_third(store, path, content, **more):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        write(store, path, content, **more)

    monkeypatch.setattr(Store, "write", die_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        copy_release(release, str(tmp_path / "root"))
    assert list_versions(Store(str(tmp_path / "root" / "micro"))) == []
    again = []
    monkeypatch.setattr(Store, "write", lambda *args, **more: (again.append(args[1]), write(*args, **more)))
    copy_release(release, str(tmp_path / "root"))
    assert not {*again} & {*written}
    assert len(again) + len(written) == len(release.manifest.parts)


def test_damage_on_either_side_stops_a_copy_before_its_manifest(release, tmp_path):
    target = tmp_path / "root" / "micro" / release.version
    part = next(part for part in release.manifest.parts if part.path.startswith("public/files"))
    (target / part.path).parent.mkdir(parents=True)
    (target / part.path).write_bytes(bytes(part.size))
    with pytest.raises(IntegrityError, match="SHA-256"):
        copy_release(release, str(tmp_path / "root"))
    assert not (target / "manifest.json").exists()
    source = tmp_path / "micro" / release.version / part.path
    source.write_bytes(bytes(part.size))
    with pytest.raises(IntegrityError, match="SHA-256"):
        copy_release(release, str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_copy_of_the_public_half_has_neither_answers_nor_reports(release, tmp_path):
    copy_release(release, str(tmp_path / "root"), public_only=True)
    there = tmp_path / "root" / "micro" / release.version
    assert {path.name for path in there.iterdir()} == {"manifest.json", "README.md", "public"}
    public = load(f"{tmp_path}/root/micro")
    assert verify_hashes(public, public_only=True) == []
    with pytest.raises(InputError, match="--public-only"):
        copy_release(public, str(tmp_path / "third"))


def test_another_version_of_the_same_number_and_a_dataset_as_root_are_refused(release, tmp_path):
    other = Store(str(tmp_path / "there" / "micro"))
    publish_numbers(other, range(5))
    with pytest.raises(InputError, match="another version 0001"):
        copy_release(release, str(tmp_path / "there"))
    with pytest.raises(InputError, match="which is a dataset"):
        copy_release(release, other.root)
