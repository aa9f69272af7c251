"""Solvers as an agent would write them, with numpy, pandas and scikit-learn.

They know only the files of `public/` and what the description says (`TaskFacts`), and run the same code on every task.
"""
