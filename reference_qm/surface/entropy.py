"""Provides the source of the core's GUIDs and random bytes."""

from __future__ import annotations

import hashlib
from typing import Protocol
from uuid import UUID


class Entropy(Protocol):
    """A source of random bytes that an attacker cannot predict."""

    def token(self, size: int) -> bytes:
        """Return ``size`` unpredictable bytes."""
        ...


class SeededEntropy:
    """A source whose bytes depend only on a seed, for tests and repeatable runs."""

    __slots__ = ("_counter", "_seed")

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._counter = 0

    def token(self, size: int) -> bytes:
        """Return ``size`` bytes, which are computed as SHA-256(seed, counter)."""
        out = b""
        while len(out) < size:
            out += hashlib.sha256(self._seed + self._counter.to_bytes(8, "little")).digest()
            self._counter += 1
        return out[:size]


def generate_guid(entropy: Entropy) -> UUID:
    """Return a version 4 GUID that consists of bytes from the given source."""
    return UUID(bytes=entropy.token(16), version=4)
