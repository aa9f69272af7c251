"""What stands between the columns of a row and its joined cells: nothing but the bars."""

from typing import Literal

from sandmill.models.channel import Channel


class JoinedChannel(Channel):
    kind: Literal["joined"] = "joined"
