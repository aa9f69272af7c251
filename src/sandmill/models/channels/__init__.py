"""Channels: how latent columns of a mechanism become what an agent sees. Data; `sandmill.synth` renders them."""

from sandmill.models.channels.base import AnyChannel, Channel, Cue, Medium

__all__ = ["AnyChannel", "Channel", "Cue", "Medium"]
