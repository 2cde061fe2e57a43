"""A check as the proof knows it, without its code."""

from __future__ import annotations

from typing import NamedTuple


class Check(NamedTuple):
    """A check, a parameter is one of its own.

    ``id``: ``suites/<document>/<section>/<module>::<name>``; ``covers``: rules; ``needs``: capabilities and facilities.
    """

    id: str
    covers: list[str]
    needs: list[str]
