"""The checks of `sandmill doctor`, one module for each area. No check changes the machine."""
