"""Formats and interfaces of other projects: exports of releases, and classes that their trainers use."""
