"""Where datasets live: shards in the making, published versions, and reading them back, locally or on S3."""
