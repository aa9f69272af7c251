"""Tiny policies that learn from tasks, the tasks that they learn from, and what an evaluation measures."""
