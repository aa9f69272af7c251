"""Copy one version to another root. It is verified before and after, and its manifest is written last."""

from collections.abc import Callable
from functools import partial

from sandmill.errors import InputError, IntegrityError, Problem, name_some
from sandmill.fingerprint import digest
from sandmill.models.base import OnProgress
from sandmill.models.release import PartFile
from sandmill.store.files import Store
from sandmill.store.limits import MAX_MANIFEST_BYTES
from sandmill.store.release import StoredRelease
from sandmill.store.verify import parts_to_share, verify_hashes
from sandmill.store.versions import MANIFEST, VersionEnding, list_versions, require_ending

_SHOWN = 5


def copy_release(
    release: StoredRelease, root: str, *, public_only: bool = False, progress: OnProgress | None = None
) -> StoredRelease:
    """Copy a version to `<root>/<dataset>/<version>`. A killed copy goes on where it stopped. Returns the copy.

    Args:
        release: what to copy.
        root: local folder or s3://bucket/prefix.
        public_only: leave the private half and the reports out.
        progress: called with (done, in all), for each of the three passes: verify, copy, verify.

    Raises:
        InputError: the private half cannot be read, the root is a dataset, or holds another version of this number.
        IntegrityError: release or copy do not hold what the manifest says. The copy is not published then.
    """
    manifest = release.manifest
    require_sound(release, public_only, progress)
    target = Store(f"{root.rstrip('/')}/{manifest.dataset}")
    if list_versions(Store(root)):
        problem = Problem("ROOT", f"{root}, which is a dataset", "the folder or prefix that datasets lie in")
        raise InputError("copy", [problem], "Nothing was copied.")
    claim, version = f"versions/{manifest.version.partition('-')[0]}", manifest.version
    if not target.create(claim, manifest.content.encode()) and target.read(claim) != manifest.content.encode():
        problem = Problem(target.root, f"another version {claim[-4:]}", f"no version of this number, or {version}")
        raise InputError("copy", [problem], "Nothing was copied.")
    parts = parts_to_share(manifest) if public_only else list(manifest.parts)
    for done, part in enumerate(parts, start=1):
        bring(target, version, part, partial(release.store.read, f"{version}/{part.path}", limit=part.size))
        if progress is not None:
            progress(done, len(parts))
    copied = StoredRelease(target, manifest)
    require_sound(copied, public_only, progress)
    require_ending(target, version, VersionEnding.PUBLISHED)
    target.create(f"{version}/{MANIFEST}", release.store.read(f"{version}/{MANIFEST}", limit=MAX_MANIFEST_BYTES))
    return copied


def bring(target: Store, version: str, part: PartFile, read: Callable[[], bytes]) -> None:
    """Write a file of a version that is not there yet. Raises `IntegrityError` for other bytes than the manifest's."""
    path = f"{version}/{part.path}"
    if not (target.exists(path) and target.size(path) == part.size):
        content = read()
        if digest(content) != part.sha256:
            raise IntegrityError(f"{target.where(path)}: not written: its SHA-256 differs from the manifest's")
        target.write(path, content)


def require_sound(release: StoredRelease, public_only: bool, progress: OnProgress | None = None) -> None:
    """Check that both halves, or the public one, hold what the manifest says.

    Raises:
        InputError: the private half is wanted and cannot be read.
        IntegrityError: something is damaged or missing.
    """
    if not (public_only or release.has_private):
        hint = "--public-only copies the public half alone."
        problem = Problem("private half", "nothing readable", "private/ of the release", hint)
        raise InputError(release.ref, [problem], "Nothing was published.")
    if problems := verify_hashes(release, public_only=public_only, progress=progress):
        listed = "\n  ".join([name_some(problems, _SHOWN)])
        raise IntegrityError(f"{release.store.where(release.version)}: not published:\n  {listed}")
