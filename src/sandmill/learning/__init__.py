"""Policies that learn from releases: facts, a language of code fragments, training and evaluation.

Needs the extra `learning`, except for settings and results.
"""
