"""Describe the public half of a version in Croissant, JSON-LD that dataset hubs and loaders read."""

import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from string import Template
from typing import Any

import pyarrow as pa
import yaml

from sandmill.models.names import DURATIONS_FILE
from sandmill.models.release import Manifest, PartFile
from sandmill.store.arrow_tables import schema_of_part

_TYPES = {pa.string(): "sc:Text", pa.int32(): "sc:Integer", pa.float64(): "sc:Float"}
"""Types of columns. Croissant has none for bytes, so such a column has no field."""
_TABLES = {"tasks": "public/tasks-*.parquet", "files": "public/files-*.parquet", "durations": DURATIONS_FILE}
_PARQUET = "application/x-parquet"


def croissant(manifest: Manifest) -> bytes:
    """Write croissant.json, with the hashes of the public data files. Its texts are in croissant.yaml."""
    text = (files("sandmill.publish") / "croissant.yaml").read_text(encoding="utf-8")
    texts = yaml.safe_load(Template(text).substitute(tasks=manifest.tasks, code_version=manifest.code_version))
    parts = [part for part in manifest.parts if part.path.startswith("public/") or part.path == DURATIONS_FILE]
    tables = list(_tables(parts))
    content = {
        "@context": texts["context"],
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": manifest.dataset,
        "version": f"{int(manifest.version.partition('-')[0])}.0.0",
        "datePublished": manifest.created[:10],
        # Relative: a version does not know where it is hosted.
        "url": f"./{manifest.dataset}/{manifest.version}",
        "citeAs": f"{manifest.dataset} {manifest.version}, content {manifest.content}",
        **texts["core"],
        **{f"rai:{name}": said for name, said in texts["rai"].items()},
        "distribution": [*map(_file_object, parts), *(table["distribution"] for table in tables)],
        "recordSet": [table["recordSet"] for table in tables],
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def _node(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"@type": f"cr:{kind}", "@id": name, "name": name, **more}


def _file_object(part: PartFile) -> dict[str, Any]:
    stored = {"contentUrl": part.path, "contentSize": f"{part.size} B", "encodingFormat": _PARQUET}
    return _node("FileObject", part.path, **stored, sha256=part.sha256)


def _tables(parts: Sequence[PartFile]) -> Iterator[dict[str, Any]]:
    """Yield a set of files and the records in it, for each table."""
    for name, pattern in _TABLES.items():
        first = next((part.path for part in parts if fnmatchcase(part.path, pattern)), None)
        if first is None:
            continue
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{field.name}",
                "name": field.name,
                "dataType": _TYPES[field.type],
                "source": {"fileSet": {"@id": f"{name}-files"}, "extract": {"column": field.name}},
            }
            for field in schema_of_part(first)
            if field.type in _TYPES
        ]
        yield {
            "distribution": _node("FileSet", f"{name}-files", encodingFormat=_PARQUET, includes=pattern),
            "recordSet": _node("RecordSet", name, field=fields),
        }
