"""Captures that others made: read in any of the usual forms, judged as far as their bytes are there."""
