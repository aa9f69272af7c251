"""Design by language models: five roles that settle words, magnitudes and motifs, each judged before it is believed."""

from sandmill.design.llm.designer import Designed, LlmDesigner, Refused

__all__ = ["Designed", "LlmDesigner", "Refused"]
