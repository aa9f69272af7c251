"""Files of recordings: archives with the label in the name, and a folder of sounds beside ragged lists of labels."""

from collections.abc import Iterator

import polars as pl

from sandmill.errors import name_some
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import Fault, Files, Layout, Names, Parts
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.media import folder_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes
from sandmill.models.texts import DESCRIPTION

_NAME_LENGTH = 12


class RecordingFolder(Layout):
    """Sounds of both parts in one folder. Lists say which sound is which recording, and which labels it has."""

    item, cell, sample = "recording", "WAV sound", "sample_submission.csv"
    sorts_ids = True
    train = labels = "essential_data/rec_labels_test_hidden.txt"
    """`rec_id,[labels]`: numbers of labels, none to all of them; `?` for a test recording."""
    names = "essential_data/rec_id2filename.txt"
    """`rec_id,filename`."""
    species = "essential_data/species_list.txt"
    """`class_id,species`: what the numbers of labels mean."""
    test = sounds = "essential_data/src_wavs/"

    files = frozenset({DESCRIPTION, sample, labels, names, species})
    folders = frozenset({sounds})

    def is_item_file(self, path: str) -> bool:
        """Whether a path is that of a sound."""
        name = path.removeprefix(self.sounds)
        return path.startswith(self.sounds) and name.endswith(".wav") and name.removesuffix(".wav").isalnum()

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write the lists in the order of ids, and one sound for each recording."""
        _, column = test.columns
        number = {name: str(place) for place, name in enumerate(facts.classes)}
        given = dict.fromkeys(test[facts.id_column], "?")
        for name, cell in train.select(facts.id_column, facts.target_column).rows():
            given[name] = ",".join(number[label] for label in (cell or "").split())
        ids = sorted(given)
        contents = {
            name: bytes(sound) for part in (train, test) for name, sound in part[facts.id_column, column].rows()
        }
        return {
            self.labels: _listing("rec_id,[labels]", (f"{name},{given[name]}".rstrip(",") for name in ids)),
            self.names: _listing("rec_id,filename", (f"{name},{_file_name(name)}" for name in ids)),
            self.species: _listing("class_id,species", (f"{place},{name}" for name, place in number.items())),
            **{f"{self.sounds}{_file_name(name)}.wav": contents[name] for name in ids},
        }

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read the lists and the sounds, and match them by id."""
        (column,) = features
        given = _lines(public, self.labels, "rec_id,[labels]")
        names = _lines(public, self.names, "rec_id,filename")
        numbers = _lines(public, self.species, "class_id,species")
        if list(names) != list(given):
            raise Fault(f"{self.names}: its recordings are not those of {self.labels} in the same order")
        if numbers != {str(place): name for place, name in enumerate(facts.classes)}:
            raise Fault(f"{self.species}: saw {', '.join(numbers.values())}; expected {', '.join(facts.classes)}")
        sounds = {name: f"{self.sounds}{file}.wav" for name, file in names.items()}
        if odd := sorted({path for path in public if path.startswith(self.sounds)} ^ {*sounds.values()}):
            raise Fault(f"{self.sounds}: sounds without a recording, or recordings without one ({name_some(odd)})")
        rows: tuple[list[tuple[str | bytes | None, ...]], ...] = ([], [])
        for name, cell in given.items():
            labels = [number for number in cell.split(",") if number]
            if cell == "?":
                rows[1].append((name, public[sounds[name]]))
            elif not set(labels) <= numbers.keys():
                raise Fault(f"{self.labels}: labels of other numbers than those listed ({name})")
            else:
                named = " ".join(numbers[number] for number in labels)
                rows[0].append((name, public[sounds[name]], named or None))
        schema = {facts.id_column: pl.String, column: pl.Binary}
        train = pl.DataFrame(rows[0], schema=schema | {facts.target_column: pl.String}, orient="row")
        return train, pl.DataFrame(rows[1], schema=schema, orient="row")

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count lines, files, bytes and samples."""
        items = sizes.train + sizes.feedback + sizes.final
        for path in (self.labels, self.names):
            if len(public[path]) > MAX_FILE_BYTES:
                yield f"{path} has {len(public[path])} bytes; the most is {MAX_FILE_BYTES}"
            elif (lines := public[path].count(b"\n") - 1) != items:
                yield f"{path} has {lines} recordings; its design has {items}"
        yield from folder_excess(public, self.sounds, items)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a recording that is to be answered and has no `?`."""
        try:
            given = _lines(public, self.labels, "rec_id,[labels]")
        except Fault:
            return True
        ends = tuple(f"_{name}" for name in facts.classes)
        asked = (line.split(b",", 1)[0].decode() for line in public[self.sample].splitlines()[1:])
        ids = {name.removesuffix(next((end for end in ends if name.endswith(end)), "")) for name in asked}
        return any(given.get(name) != "?" for name in ids)

    def told(self, facts: TaskFacts, sizes: Sizes) -> dict[str, str]:
        """Say how lines are to be read, and what is in the folder."""
        return {
            self.labels: "a line each: the recording, then the numbers of its labels, as many as it has, separated by "
            "commas; recordings to predict are listed as well, with `?` in place of labels",
            self.sounds: f"in one folder with those for training; `{self.names}` gives the file of each recording",
            self.names: "the name of the sound file of each recording, without its ending",
            self.species: f"what the numbers of `{facts.target_column}` stand for",
        }


def _lines(public: Files, path: str, header: str) -> dict[str, str]:
    """Read a list: the text before the first comma of each line, and all text after it."""
    try:
        first, *lines = public[path].decode().removesuffix("\n").split("\n")
    except (KeyError, UnicodeDecodeError) as error:
        raise Fault(f"{path}: the file is not there, or no text") from error
    found = dict(line.partition(",")[::2] for line in lines)
    if first != header or len(found) < len(lines):
        raise Fault(f"{path}: begins with {first[:80]!r}, expected {header!r}; or has several lines of one name")
    return found


def _listing(header: str, lines: Iterator[str]) -> bytes:
    return "\n".join([header, *lines, ""]).encode()


def _file_name(name: str) -> str:
    """Return the file of a recording. It follows from the id alone."""
    return "R" + digest(f"recording {name}".encode())[:_NAME_LENGTH]


RECORDING_FOLDER = RecordingFolder()
