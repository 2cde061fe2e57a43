"""The exit codes of ``mqconform`` (docs/run-folder.md)."""

from __future__ import annotations

EXIT_OK = 0
EXIT_NOT_CONFORMANT = 1
EXIT_USAGE = 2
"""Bad input, or a SUT that was lost."""
EXIT_NOTHING_JUDGED = 3
"""A capture has nothing that can be judged."""
EXIT_TOO_FEW = 5
"""No check ran, no rule was judged, or fewer checks ran than a whole run has (suites/frozen.toml)."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, or a signal to end: as shells have it."""
