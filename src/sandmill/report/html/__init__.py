"""One HTML file that shows a release: pure functions from facts to markup. Nothing in it is loaded from elsewhere."""
