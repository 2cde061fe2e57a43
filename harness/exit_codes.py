"""The exit codes of ``mqconform`` (docs/run-folder.md)."""

from __future__ import annotations

EXIT_OK = 0
EXIT_NOT_CONFORMANT = 1
EXIT_USAGE = 2
"""Invalid input from the user, or the SUT was lost during the run."""
EXIT_NOTHING_JUDGED = 3
"""A capture contains no packet that can be judged."""
EXIT_TOO_FEW = 5
"""No check ran, no rule was judged, or fewer checks ran than a complete run has (suites/frozen.toml)."""
EXIT_INTERRUPTED = 130
"""The command was ended by Ctrl-C or by a termination signal; shells use the same exit code."""
