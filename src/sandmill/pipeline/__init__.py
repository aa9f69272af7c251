"""The stages composed: a plan of slots, one function that fills a shard, proofs, and a published version."""
