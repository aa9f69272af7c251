"""Split the joined cells again."""

from sandmill.kinds.table import read as tables


def read(folder, facts):
    train, test = tables.read(folder, facts)
    return split_cells(train), split_cells(test)


def split_cells(table):
    return table.join(table.pop("record").str.split("|", expand=True).astype(float).add_prefix("reading "))


def source(facts):
    split = 'train, test = (t.join(t.pop("record").str.split("|", expand=True).astype(float).add_prefix("reading "))'
    return [*tables.source(facts), f"{split} for t in (train, test))"]
