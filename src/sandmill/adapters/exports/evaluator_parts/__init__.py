"""Source of `evaluator.py` in an export for SandMLE. Only the standard library is imported here.

`sandmill.adapters.exports.sandmle` joins these modules to one file.
"""
