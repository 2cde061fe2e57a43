"""Read captures of other tools in all usual formats, and judge them as far as they are complete."""
