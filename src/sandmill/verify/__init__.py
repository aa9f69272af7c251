"""Establish the facts of a published task by running things: proofs, and proofs again of what was published."""
