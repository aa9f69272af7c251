"""A language model that learns to read task descriptions: supervised fine-tuning, then GRPO, on one GPU.

`prepare` writes a folder with tasks, demonstrations, weights and a copy of this package as `lm`. The modules that it
copies import torch, numpy, pandas and scikit-learn alone, so that the folder runs on a machine without sandmill.
"""
