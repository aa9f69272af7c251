"""Source of `evaluator.py` in an export for SandMLE. Only the standard library is imported here.

`sandmill.export.sandmle` joins these modules to one file.
"""
