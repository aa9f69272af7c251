"""A module beside the competitions. Like in mle-bench, their folder is a namespace package."""
