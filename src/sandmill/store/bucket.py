"""Files under a prefix of an S3 bucket, through s3fs. Credentials and AWS_ENDPOINT_URL come from the environment.

Each request is tried `ATTEMPTS` times by botocore, and by nobody else: s3fs would multiply the attempts. Its waits grow
and are random, so that many clients do not come back at once. A body that is cut is read again from its start.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from sandmill.errors import StoreError, require_extra
from sandmill.store.files import StoredFile, storage_faults

with require_extra("s3", "s3://"):
    from fsspec.spec import AbstractBufferedFile

ATTEMPTS = 6
"""Attempts of a request that is throttled, cut, or answered by a server error. The waits between them are random, of at
most 1, 2, 4, 8 and 16 seconds."""
BODY_ATTEMPTS = 4
"""Attempts to read a body to its end, after waits of 0.2, 0.4 and 0.8 seconds."""
CONNECT_SECONDS, READ_SECONDS = 5, 30
"""A connection that takes longer, or a server that sends nothing for longer, counts as cut.
A server copies the largest file of a release in a few seconds."""

_CONFLICT_RETRIES = 5  # S3 answers 409 when two conditional writes meet in flight, and asks to try again
_LOST_RACE = {"PreconditionFailed", "412"}
_BUSY = {"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "500", "502", "503", "504"}
_CONFLICT = {"ConditionalRequestConflict", "OperationAborted", "409"}


@dataclass(frozen=True)
class BucketFiles:
    """One prefix of one bucket."""

    bucket: str
    prefix: str

    @contextmanager
    def faults(self, where: str) -> Iterator[None]:
        """Convert errors on `where` to StoreError, as `storage_faults` does, with those of S3's client."""
        with require_extra("s3", f"s3://{self.bucket}"):
            import s3fs  # noqa: F401  fsspec imports it by name and would raise a plain ImportError
            from aiohttp import ClientError as ConnectionFault
            from botocore.exceptions import BotoCoreError, NoCredentialsError  # type: ignore[import-untyped]

        try:
            with storage_faults(where):
                yield
        except StoreError as error:
            code = _code(error.__cause__)
            if code == "NoSuchBucket":
                raise StoreError(f"s3://{self.bucket}: no such bucket. Create it, or correct the root.") from error
            if code in _BUSY:
                raise StoreError(
                    f"{where}: the server refused {ATTEMPTS} attempts ({code}). Run the same command again later; "
                    "what is finished is kept. If this happens often, use fewer --workers."
                ) from error
            raise
        except NoCredentialsError as error:
            raise StoreError(
                f"{where}: no AWS credentials found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                "AWS_PROFILE, or give the machine a role."
            ) from error
        except (BotoCoreError, ConnectionFault) as error:
            raise StoreError(
                f"{where}: no complete answer from the server ({str(error) or type(error).__name__}), also when tried "
                "again. Check the network and AWS_ENDPOINT_URL, then run the same command again; what is finished is "
                "kept."
            ) from error

    @property
    def _fs(self) -> Any:
        # Not kept: fsspec has one connection for each process and thread, which makes forks safe.
        import fsspec

        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        client = {
            "retries": {"mode": "standard", "total_max_attempts": ATTEMPTS},
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
        }
        files = fsspec.filesystem("s3", use_listings_cache=False, endpoint_url=endpoint or None, config_kwargs=client)
        files.retries = 1
        return files

    def read(self, path: str, most: int | None) -> bytes:
        """Return the whole content, or at most its first bytes, by one request."""
        if most is not None:
            return self._range(path, 0, most)
        # With one request at a time, s3fs does not ask for the size first.
        return _to_the_end(lambda: self._fs.cat_file(self._full(path), max_concurrency=1))

    def open(self, path: str) -> BinaryIO:
        """Open for reading at any position."""
        where = f"s3://{self._full(path)}"

        def fetch(start: int, end: int) -> bytes:
            with self.faults(where):  # the file is read long after it was opened
                return self._range(path, start, end)

        return cast(BinaryIO, RangedFile(fetch, self.size(path)))

    def _range(self, path: str, start: int, end: int) -> bytes:
        try:
            return _to_the_end(lambda: self._fs.cat_file(self._full(path), start=start, end=end))
        except OSError as error:
            if start or _code(error) != "InvalidRange":
                raise
            return b""  # the object is empty

    def write(self, path: str, content: bytes, owner_only: bool) -> None:
        """Write an object atomically. The bucket's policy decides who may read it; `owner_only` has no effect."""
        self._fs.pipe_file(self._full(path), content)

    def create(self, path: str, content: bytes, owner_only: bool) -> bool:
        """Write an object unless it exists (If-None-Match)."""
        made, was_retried = self._put_if_none(path, content)
        if not made:
            # The answer to an earlier attempt may have been lost after the object was made.
            return was_retried and self.read(path, None) == content
        if self._put_if_none(path, content)[0]:
            raise StoreError(
                f"s3://{self._full(path)}: this server ignores conditional writes (If-None-Match), so two runs could "
                "overwrite each other. Use AWS S3, or a server that answers 412."
            )
        return True

    def copy(self, source: str, target: str) -> None:
        """Copy on the server."""
        self._fs.cp_file(self._full(source), self._full(target))

    def remove(self, path: str) -> None:
        """Remove an object. S3 does not say whether it was there."""
        self._fs.rm_file(self._full(path))

    def exists(self, path: str) -> bool:
        """Whether an object exists. A missing bucket is an error."""
        try:
            self.size(path)
        except FileNotFoundError:
            self._require_bucket()
            return False
        return True

    def size(self, path: str) -> int:
        """Bytes of an object."""
        key = "/".join(filter(None, (self.prefix, path)))
        return int(self._fs.call_s3("head_object", Bucket=self.bucket, Key=key)["ContentLength"])

    def details(self, folder: str) -> list[StoredFile]:
        """Return size and age of all objects below a folder, in the order of their paths.

        If the listing is empty, s3fs asks what the folder itself is, and returns it if another process has written the
        first object meanwhile.
        """
        prefix, start = f"{self._full(folder)}/", len(self._full("")) + 1
        found = self._fs.find(prefix, detail=True)
        inside = sorted(path for path in found if path.startswith(prefix))
        if not inside:
            self._require_bucket()
        return [
            StoredFile(path[start:], int(found[path]["size"]), found[path]["LastModified"].timestamp())
            for path in inside
        ]

    def folders(self, folder: str) -> list[str]:
        """Sorted names of the folders directly in a folder."""
        try:
            entries = self._fs.ls(f"{self._full(folder)}/", detail=True)
        except FileNotFoundError:
            self._require_bucket()
            return []
        return sorted(entry["name"].rpartition("/")[2] for entry in entries if entry["type"] == "directory")

    def _full(self, path: str) -> str:
        return "/".join(filter(None, (self.bucket, self.prefix, path)))

    def _put_if_none(self, path: str, content: bytes) -> tuple[bool, bool]:
        """Return whether the server took the object, and if not, whether an earlier attempt had got no answer."""
        for attempt in range(_CONFLICT_RETRIES):
            try:
                self._fs.pipe_file(self._full(path), content, mode="create")
            except OSError as error:
                if isinstance(error, FileExistsError) or _code(error) in _LOST_RACE:
                    return False, bool(_response(error).get("ResponseMetadata", {}).get("RetryAttempts"))
                if _code(error) not in _CONFLICT or attempt == _CONFLICT_RETRIES - 1:
                    raise
                time.sleep(0.1 * 2**attempt)
            else:
                return True, False
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _require_bucket(self) -> None:
        self._fs.call_s3("list_objects_v2", Bucket=self.bucket, Prefix=f"{self.prefix}/", MaxKeys=1)


def _to_the_end(fetch: Callable[[], Any]) -> bytes:
    """Fetch, and fetch again if the connection was cut within the body. Earlier faults are botocore's to retry."""
    from aiobotocore.response import AioReadTimeoutError  # type: ignore[import-untyped]
    from aiohttp import ClientPayloadError
    from botocore.exceptions import IncompleteReadError, ResponseStreamingError

    for attempt in range(1, BODY_ATTEMPTS):
        try:
            return cast(bytes, fetch())
        except (AioReadTimeoutError, ClientPayloadError, IncompleteReadError, ResponseStreamingError):
            time.sleep(0.1 * 2**attempt)
    return cast(bytes, fetch())


def _code(error: BaseException | None) -> str:
    """Return S3's error code from the cause that s3fs wrapped."""
    return str(_response(error).get("Error", {}).get("Code", ""))


def _response(error: BaseException | None) -> Mapping[str, Any]:
    while error is not None:
        if response := getattr(error, "response", None):
            return cast(Mapping[str, Any], response)
        error = error.__cause__
    return {}


BLOCK_BYTES, BLOCKS_KEPT = 1 << 20, 16
"""Of an open file."""


class RangedFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file that is fetched in blocks, of which the last ones stay in memory.

    `fetch` returns the bytes from a first to before a last position.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], size: int) -> None:
        self._fetch = fetch
        kept = {"cache_type": "blockcache", "cache_options": {"maxblocks": BLOCKS_KEPT}}
        super().__init__(None, "", block_size=BLOCK_BYTES, size=size, **kept)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._fetch(start, end)
