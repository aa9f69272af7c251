"""Join the latent columns of each row."""

import numpy as np


def join_cells(channel, latents, row_numbers):
    return ["|".join(f"{value:.6g}" for value in row) for row in np.column_stack(list(latents.values()))]
