"""Tasks whose items are time series, a file each."""
