"""Addresses that OpenLineage events may go to, as options take them."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def _is_a_receiver(place: str) -> str:
    """Refuse other schemes, and credentials: settings of a run are shown to everybody who can open the Prefect UI."""
    try:
        parts = urlsplit(place)
        host = parts.hostname
    except ValueError as error:
        raise ValueError(f"not an address: {error}") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "an address without user, password, query and fragment; a key comes from the variable OPENLINEAGE_API_KEY"
        )
    is_file = parts.scheme == "file" and not host and len(parts.path.strip("/")) > 0
    if is_file or (parts.scheme in ("http", "https") and host) or (parts.scheme == "s3" and host):
        return place
    raise ValueError("an address such as file:///folder/events.jsonl, https://host, or s3://bucket/prefix")


LineagePlace = Annotated[str, AfterValidator(_is_a_receiver)]
"""A file that events are appended to, an HTTP receiver, or a prefix of S3 with one object an event."""
