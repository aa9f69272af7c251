"""One episode of an agent on one task: the prompt, limited feedback during the episode, and the final score."""
