"""The exit codes of ``mqconform`` (docs/run-folder.md)."""

from __future__ import annotations

EXIT_OK = 0
EXIT_NOT_CONFORMANT = 1
EXIT_USAGE = 2
"""The exit code for invalid input from the user, and for a run that lost its SUT."""
EXIT_NOTHING_JUDGED = 3
"""The exit code of a command that judges captures, if the captures contain no packet that can be judged."""
EXIT_TOO_FEW_CHECKS = 5
"""The exit code if no check ran, if no rule was judged, or if fewer checks ran than a complete run has
(suites/frozen.toml).
"""
EXIT_INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C or a termination signal. Shells use the same code."""
