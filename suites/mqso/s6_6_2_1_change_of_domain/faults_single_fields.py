"""A fault in the search for the directory object of a computer."""

from __future__ import annotations
