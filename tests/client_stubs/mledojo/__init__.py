"""Stand-in for MLE-Dojo."""
