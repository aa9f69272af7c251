"""Proof that a policy trained on a release gets better on other tables, and the claims of two papers."""
