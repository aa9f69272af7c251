"""Files of recordings: archives with the label in the name."""

import re
import polars as pl
from sandmill.layouts.base import Items
from sandmill.layouts.image_archive import ImageArchive, _pack, _unpack


class ClipArchive(ImageArchive):
    train, test = "train2.zip", "test2.zip"
    item, cell = "clip", "AIFF sound"

    def write(self, train, test, facts):
        day, column = test.columns[1:]
        t = [f"{d}_{i}_TRAIN_{l}.aif" for d, i, l in train.select(day, facts.id_column, facts.target_column).rows()]
        s = [f"{d}_{i}_Test.aif" for d, i in test.select(day, facts.id_column).rows()]
        return {self.train: _pack(t, train[column]), self.test: _pack(s, test[column])}

    def read(self, public, facts, features):
        faults = []
        a = _unpack(public, self.train, re.compile(r"(?P<day>[0-9-]+)_(?P<id>[0-9a-f]+)_TRAIN_(?P<label>[01]).aif"), faults)
        b = _unpack(public, self.test, re.compile(r"(?P<day>[0-9-]+)_(?P<id>[0-9a-f]+)_Test.aif"), faults)
        day, column = features
        names = {"label": facts.target_column, "id": facts.id_column, "content": column, "day": day}
        order = [facts.id_column, day, column, facts.target_column]
        return Items(a.rename(names).select(order), b.rename(names, strict=False).select(order[:3]), tuple(faults))

    def excess(self, name, content, items):
        return iter(())

    def shows_target(self, public, facts):
        return False


CLIP_ARCHIVE = ClipArchive()
