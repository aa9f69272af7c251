"""Tasks that turn written words into spoken ones."""
