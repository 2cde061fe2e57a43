"""A check as the proof knows it, without its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_NOTHING: Mapping[str, Sequence[str]] = {}


class Check(NamedTuple):
    """A check, a parameter is one of its own.

    ``id``: ``suites/<document>/<section>/<module>::<name>``; ``covers``: rules; ``needs``: capabilities and facilities;
    ``varied``: the values of each parameter that it varies.
    """

    id: str
    covers: list[str]
    needs: list[str]
    varied: Mapping[str, Sequence[str]] = _NOTHING
