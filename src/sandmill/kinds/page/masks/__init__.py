"""Tasks that ask for the mask of some regions of a picture."""
