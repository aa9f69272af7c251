"""Join the latent columns of each row."""

import numpy as np


def join_cells(channel, latents, row_numbers):
    rows = np.column_stack(list(latents.values()))
    return ["|".join(f"{name}={value:.6g}" for name, value in zip(latents, row, strict=True)) for row in rows]
