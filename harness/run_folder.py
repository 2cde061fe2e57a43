"""Define the names of the files in a run folder, and of the capture of each test (docs/run-folder.md)."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

RUN_SCHEMA_VERSION = 2
"""The version of the schema of run.json, rules.json and verdicts.jsonl."""
RUN_FILE = "run.json"
RULES_FILE = "rules.json"
VERDICTS_FILE = "verdicts.jsonl"
LOCK_FILE = "run.lock"
"""The file with the process id of the process that writes the run (harness/run/lock.py)."""
CAPTURES_FOLDER = "captures"
CAPTURE_SUFFIX = ".pcapng"

_MAX_CAPTURE_NAME_CHARACTERS = 120


@lru_cache(maxsize=4096)
def build_capture_name(test: str) -> str:
    """Return the file name, without suffix, of a test's capture. The name is readable, and different for each test.

    The name consists of the last 120 characters of the test's id in lower case, a hyphen, and the first 8
    hexadecimal digits of the SHA-256 of the id. One hyphen replaces each sequence of characters outside a to z and
    0 to 9; hyphens at both ends are removed.
    """
    said = re.sub(r"[^a-z0-9]+", "-", test.lower())[-_MAX_CAPTURE_NAME_CHARACTERS:].strip("-")
    return f"{said}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"  # the hash distinguishes ids such as [-1] and [1]


def get_capture_path(test: str) -> str:
    """Return the path, within the run folder, of the capture of a test's first attempt."""
    return f"{CAPTURES_FOLDER}/{build_capture_name(test)}{CAPTURE_SUFFIX}"
