"""The command ``python -m benchmarks.pairs receive|send OPTIONS [PORT]`` runs one process of a pair."""

from __future__ import annotations

import sys

from benchmarks.pairs import main

main(sys.argv[1], sys.argv[2:])
