"""The description of a check for the proof, without the code of the check."""

from __future__ import annotations

from typing import NamedTuple


class Check(NamedTuple):
    """A check; each set of parameters of a function is a check of its own. ``id``:
    ``suites/<document>/<section>/<module>::<name>``; ``covers``: rules; ``needs``: capabilities and facilities.
    """

    id: str
    covers: list[str]
    needs: list[str]
