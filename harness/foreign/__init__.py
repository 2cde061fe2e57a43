"""Reads captures of other tools in all usual formats, and judges them as far as they are complete."""
