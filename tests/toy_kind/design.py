"""Every design is about the first domain of tables."""

from sandmill.kinds.library import load_domains
from sandmill.models.channel import Medium
from tests.toy_kind.channel import JoinedChannel


def choose_medium(place):
    return Medium(domain=load_domains()[0], column="record", meaning="All readings of the row, joined by bars")


def choose_channel(medium, columns, streams):
    return JoinedChannel(column=medium.column, meaning=medium.meaning)
