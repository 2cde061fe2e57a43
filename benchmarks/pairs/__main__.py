"""Runs one process of a pair (``python -m benchmarks.pairs receive|send OPTIONS [PORT]``)."""

from __future__ import annotations

import sys

from benchmarks.pairs import main

main(sys.argv[1], sys.argv[2:])
