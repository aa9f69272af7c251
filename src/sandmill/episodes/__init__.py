"""One episode of an agent on one task: its prompt, metered feedback on the way, and the score at the end."""
