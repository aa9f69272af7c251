"""A kind in twenty lines: one column holds all cells of a row, joined by bars, as some exports of machines do."""

from typing import Literal

import numpy as np

from sandmill.kinds.library import load_domains
from sandmill.kinds.table import read as tables_reader
from sandmill.models.channel import Channel, Medium
from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


class JoinedChannel(Channel):
    kind: Literal["joined"] = "joined"


def choose_medium(place):
    return Medium(domain=load_domains()[0], column="record", meaning="All readings of the row, joined by bars")


def choose_channel(medium, columns, streams):
    return JoinedChannel(column=medium.column, meaning=medium.meaning)


def join_cells(channel, latents, row_numbers):
    return ["|".join(f"{value:.6g}" for value in row) for row in np.column_stack(list(latents.values()))]


def read(folder, facts):
    train, test = tables_reader.read(folder, facts)
    return split_cells(train), split_cells(test)


def split_cells(table):
    return table.join(table.pop("record").str.split("|", expand=True).astype(float).add_prefix("reading "))


def source(facts):
    split = 'train, test = (t.join(t.pop("record").str.split("|", expand=True).astype(float).add_prefix("reading "))'
    return [*tables_reader.source(facts), f"{split} for t in (train, test))"]


JOINED = Kind(
    name="joined",
    modality=Modality.TIME_SERIES,
    tasks={(TargetKind.REGRESSION, MetricName.RMSE): (0.2, 0.3, 0.4, 0.5, 0.6)},
    reader="tests.toy_kind",
    channel="tests.toy_kind:JoinedChannel",
    design="tests.toy_kind",
    render="tests.toy_kind:join_cells",
)
