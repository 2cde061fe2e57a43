"""Defines the durations of the directory's timers, in ms. Spec: MS-MQDMPR 3.1.2.1, 3.1.2.2, 3.1.2.5."""

from __future__ import annotations

from typing import Final

DIRECTORY_SITES_UPDATE_INTERVAL_MS: Final = 12 * 3_600_000
"""The duration of the Directory Sites Update Timer: 12 hours, configurable."""
DIRECTORY_SITE_GATES_UPDATE_INTERVAL_MS: Final = 3_600_000
"""The duration of the Directory Site Gates Update Timer: 1 hour, configurable."""
DIRECTORY_ONLINE_MS: Final = 60_000
"""The duration of the Directory Online Timer: 1 minute."""
