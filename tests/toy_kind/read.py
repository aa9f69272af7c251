"""Split the joined cells again."""

import re

import pandas as pd

from sandmill.kinds.table import read as tables


def read(folder, facts):
    train, test = tables.read(folder, facts)
    return split_cells(train), split_cells(test)


def split_cells(table):
    cells = [dict(re.findall(r"(\w+)=([^|]+)", one)) for one in table.pop("record")]
    return table.join(pd.DataFrame(cells).astype(float))


def source(facts):
    cells = r'dict(re.findall(r"(\w+)=([^|]+)", one)) for one in t.pop("record")'
    split = f"train, test = (t.join(pd.DataFrame([{cells}]).astype(float)) for t in (train, test))"
    return [*tables.source(facts), split]
