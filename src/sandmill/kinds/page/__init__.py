"""Tasks that turn a picture into a picture: a clean page, or in `masks` the regions of a thing."""
