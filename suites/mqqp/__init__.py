"""Checks of MS-MQQP, by section."""
