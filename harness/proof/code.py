"""Compute a digest of the code on which proofs depend. A result is valid as long as the digest is unchanged."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import harness
import reference_qm
from harness.paths import SUITES

_FILES_LEFT_OUT_OF_DIGEST = ("mutants.toml", "frozen.toml")
"""The files of the suites that contain results and no code."""


@cache
def compute_code_digest() -> str:
    """Return a digest of the reference, the harness and the suites."""
    digest = hashlib.sha256()
    for folder in (Path(reference_qm.__file__).parent, Path(harness.__file__).parent, SUITES):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".toml") and path.name not in _FILES_LEFT_OUT_OF_DIGEST:
                digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
