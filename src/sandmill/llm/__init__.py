"""Clients for language models over LiteLLM, within a limit of cost.

`LlmClient` answers single prompts of builds with JSON, records every reply and replays. `ChatClient` talks in turns and
records nothing.
"""

from sandmill.llm.budget import Budget
from sandmill.llm.cache import Recordings
from sandmill.llm.client import ChatClient, ChatReply, LlmClient
from sandmill.llm.provider import RequestFailed

__all__ = ["Budget", "ChatClient", "ChatReply", "LlmClient", "Recordings", "RequestFailed"]
