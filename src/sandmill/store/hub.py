"""Releases on a hub of data sets, through huggingface_hub: `hf://datasets/ORG/NAME@REV`. A commit holds one version.

The files of the version lie at the root of the repository, where its card names those of each split. What a hub holds
is untrusted. Only huggingface_hub reads the token; messages show it nowhere.
"""

import io
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from sandmill.errors import InputError, IntegrityError, Problem, SandmillError, StoreError, require_extra, shorten
from sandmill.models.base import OnProgress
from sandmill.models.release import PartFile
from sandmill.store.copy import bring, require_sound
from sandmill.store.files import FileMissing, Store, cache_folder
from sandmill.store.limits import MAX_MANIFEST_BYTES
from sandmill.store.release import StoredRelease
from sandmill.store.verify import parts_to_share
from sandmill.store.versions import HUB, MANIFEST, list_versions, parse_manifest

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_PLACE = re.compile(rf"{HUB}datasets/(?P<repo>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TOKEN = re.compile(r"hf_[A-Za-z0-9]{8,}")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class HubPlace:
    """A repository of a hub, and a commit, a branch or a tag of it."""

    repo: str
    revision: str = "main"

    @classmethod
    def read(cls, ref: str) -> "HubPlace":
        """Read a reference. Raises `InputError` if it is none."""
        if found := _PLACE.fullmatch(ref):
            return cls(found["repo"], found["revision"] or "main")
        problem = Problem("reference", shorten(ref), "hf://datasets/ORG/NAME, with @COMMIT to read it")
        raise InputError("hub", [problem], "")

    @property
    def ref(self) -> str:
        """The reference."""
        return f"{HUB}datasets/{self.repo}@{self.revision}"


def fetch(ref: str) -> tuple[Store, str]:
    """Download the files of a version into the cache folder, as regular files, and return their store and the version.

    A commit that is there already is not asked for again. A killed download goes on where it stopped.

    Raises:
        InputError: the reference is wrong, or huggingface_hub is not installed.
        StoreError: the hub cannot be reached or refuses.
        IntegrityError: a file is missing or is not what the manifest says.
    """
    place = HubPlace.read(ref)
    if not _COMMIT.fullmatch(place.revision):
        with _hub(ref) as api:
            commit = str(api.dataset_info(place.repo, revision=place.revision).sha)
        asked, place = place.revision, replace(place, revision=commit)
        _LOG.warning("%s: %s may change; name the commit that is read now: %s", ref, asked, place.ref)
    if not _COMMIT.fullmatch(place.revision):
        raise IntegrityError(f"{ref}: the hub names no commit")
    store = Store(str(cache_folder() / "hub" / place.repo / place.revision), place.ref)
    if not (versions := list_versions(store)):
        versions = [_download(place, store)]
    return store, versions[-1]


def _download(place: HubPlace, store: Store) -> str:
    """Write the files that the repository has of the version into a store, the manifest last. Returns the version."""
    with _hub(place.ref) as api, TemporaryDirectory(prefix="sandmill-hub-") as folder:
        info = api.dataset_info(place.repo, revision=place.revision, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}

        def read(path: str, most: int) -> bytes:
            if (size := sizes.get(path)) is None:
                raise FileMissing(f"{place.ref}: no {path}. A release has {MANIFEST} at the root of its repository.")
            if size > most:
                raise IntegrityError(f"{place.ref}: {path}: {size} bytes, expected at most {most}")
            made = Path(
                api.hf_hub_download(place.repo, path, repo_type="dataset", revision=place.revision, local_dir=folder)
            )
            try:
                return Store(str(made.parent)).read(made.name, limit=most)
            finally:
                made.unlink()

        content = read(MANIFEST, MAX_MANIFEST_BYTES)
        manifest = parse_manifest(content, place.ref)
        needed = {part.path for part in parts_to_share(manifest)}
        for part in (part for part in manifest.parts if part.path in needed or part.path in sizes):
            bring(store, manifest.version, part, partial(read, part.path, part.size))
        store.write(f"{manifest.version}/{MANIFEST}", content)
    return manifest.version


def push(release: StoredRelease, to: str, private_to: str = "", progress: OnProgress | None = None) -> dict[str, str]:
    """Send the public half of a version to a repository, and both halves to a private one. Returns what lies where.

    Each repository gets one commit, which replaces an older version. The public one is made if it is missing.

    Raises:
        InputError: a reference is wrong, or the hub does not say that the repository for both halves is private.
        IntegrityError: the version is damaged. Nothing was sent.
        StoreError: the hub cannot be reached or refuses.
    """
    public, private = HubPlace.read(to), HubPlace.read(private_to) if private_to else None
    require_sound(release, not private, progress)
    if private:
        with _hub(private_to) as api:
            is_private = api.dataset_info(private.repo).private is True
        if not is_private or private.repo == public.repo:
            hint = "Make it private in its settings, or create another one there."
            problem = Problem(private_to, "a repository that is not private", "one that the hub says is private", hint)
            raise InputError("push", [problem], "Nothing was sent: it would hold the answers.")
    with _hub(to) as api:
        api.create_repo(public.repo, repo_type="dataset", exist_ok=True)
        sent = {"public half": _commit(api, public, release, parts_to_share(release.manifest))}
    if private:
        with _hub(private_to) as api:
            sent["both halves"] = _commit(api, private, release, list(release.manifest.parts))
    return sent


def _commit(api: "HfApi", place: HubPlace, release: StoredRelease, parts: list[PartFile]) -> str:
    """Replace the version in a repository. Returns the reference of the commit."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    def add(path: str) -> CommitOperationAdd:
        stored, backend = f"{release.version}/{path}", release.store.backend
        local = getattr(backend, "root", None)
        file = io.BufferedReader(cast(io.RawIOBase, backend.open(stored))) if local is None else str(local / stored)
        return CommitOperationAdd(path, file)

    new = [*(part.path for part in parts), MANIFEST]
    old = set(api.list_repo_files(place.repo, repo_type="dataset")) - set(new)
    gone = [CommitOperationDelete(path) for path in sorted(old) if path.startswith(("public/", "private/", "reports/"))]
    message = f"{release.manifest.dataset} {release.version}"
    made = api.create_commit(place.repo, [*gone, *map(add, new)], commit_message=message, repo_type="dataset")
    return replace(place, revision=str(made.oid)).ref


@contextmanager
def _hub(ref: str) -> "Iterator[HfApi]":
    """Give a client of the hub. Its errors become a StoreError without the token."""
    with require_extra("hf", ref):
        from huggingface_hub import HfApi, get_token
        from huggingface_hub.errors import HfHubHTTPError
    # The bases are OSError and the error of the HTTP client, which differs between versions.
    faults = cast(tuple[type[Exception], ...], (*HfHubHTTPError.__bases__, ValueError))
    try:
        yield HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    except SandmillError:
        raise
    except faults as error:
        said = _TOKEN.sub("[token]", str(error).replace(get_token() or "[token]", "[token]")).rstrip(". ")
        hint = "Check reference, network, and the token that huggingface_hub reads (hf auth login, or HF_TOKEN)."
        raise StoreError(f"{ref}: {type(error).__name__}: {shorten(' '.join(said.split()), 300)}. {hint}") from None
