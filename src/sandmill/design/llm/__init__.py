"""Design by language models: five roles that settle words, magnitudes and motifs, each judged before it is believed."""

from sandmill.design.llm.designer import MONEY_SPENT, Designed, LlmDesigner, Refused
from sandmill.design.llm.diversity import KnownDomain

__all__ = ["MONEY_SPENT", "Designed", "KnownDomain", "LlmDesigner", "Refused"]
