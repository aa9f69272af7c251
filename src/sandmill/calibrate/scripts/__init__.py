"""Short scripts that solve a task, written from what the panel's searches found on its training rows."""
