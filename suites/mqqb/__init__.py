"""Checks of MS-MQQB, by section."""
