"""The small proof: policies learn on a release and are scored on real tables."""
