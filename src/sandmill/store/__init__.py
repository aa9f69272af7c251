"""Store datasets locally or on S3: shards, published versions, and reading both."""
