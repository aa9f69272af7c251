"""Micro-scale, verifiable, calibrated machine-learning-engineering environments for RL."""
