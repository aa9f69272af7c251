"""Stand-in for mle-bench: its registry, its graders and one command, as far as an exported task meets them."""
