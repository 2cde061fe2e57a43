"""Parse a length of time that a user writes, such as ``90``, ``90s``, ``30m`` or ``1h``."""

from __future__ import annotations

import re

ACCEPTED_FORMS_OF_SECONDS = "seconds, such as 90, or 90s, 30m, 1h"
_SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3_600}


def parse_seconds(text: str) -> int | None:
    """Return a length of time in seconds, or None if the text is empty or invalid."""
    found = re.fullmatch(r"([1-9][0-9]{0,8}|0+[1-9][0-9]{0,8})([smh]?)", text.strip().lower())
    return int(found[1]) * _SECONDS_PER_UNIT[found[2]] if found else None
