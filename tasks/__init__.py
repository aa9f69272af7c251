"""Prefect tasks: each a policy around one library call. The tasks that we make are packages, not these."""
