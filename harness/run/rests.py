"""The roots of the verdicts of one check, in addition to the system's own behavior: noted while its fixtures exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.capture.recorder import RPC
from harness.judging.verdicts import Entry, Verdict
from harness.run.checks import find_needs
from harness.sut.own_queues import PROVISIONED

if TYPE_CHECKING:
    import pytest

_CLOSED = re.compile(r"(?<!not )\bclosed\b")
"""The words of checks for a connection that the system closed."""


@dataclass(frozen=True, slots=True)
class Rests:
    """``connected``: the system opened a connection to where the peer accepts sessions, not only to its RPC.

    ``awaited``: the peer waited for one, and none came. ``addressed``: the check named a queue of the system, or sent
    it a message: a name of the system had to lead there. ``provisioned``: keys of [queues] that it used. ``reads``: it
    needs remote reading, and saw nothing of it. ``known_peer``: its peer is the one of the SUT file. ``came``: the
    frames that the system sent.
    """

    connected: bool = False
    awaited: bool = False
    addressed: bool = False
    provisioned: frozenset[str] = frozenset()
    reads: bool = False
    known_peer: bool = False
    came: frozenset[int] = frozenset()

    @property
    def any(self) -> bool:
        """Return whether there is something to ask for."""
        return self.awaited or self.addressed or self.reads or self.known_peer

    def is_shown(self, entry: Entry) -> bool:
        """Return whether the evidence of a verdict has arrived: a missing root does not change these packets."""
        return bool(entry.evidence) and all(one.frame in self.came for one in entry.evidence)

    def is_silence(self, entry: Entry) -> bool:
        """Return whether a pass rests on silence: such a pass is valid only if a packet could have arrived.

        A connection that the system closed also counts as heard.
        """
        return entry.verdict is Verdict.PASS and not entry.heard and _CLOSED.search(entry.observed) is None


def rests_of(item: pytest.Item) -> Rests:
    """Return the roots of a check, when it is over and its fixtures still exist."""
    fixtures: dict[str, Any] = item.funcargs  # type: ignore[attr-defined]
    sut, peer = fixtures.get("sut"), fixtures.get("peer")
    if sut is None:
        return Rests()
    frames = peer.recorder.frames if peer is not None else ()
    connected = peer is not None and any(
        one.sut_role == "initiator" and one.transport != RPC for one in peer.recorder.connections
    )
    remote = any(frame.from_sut and frame.transport == RPC for frame in frames)
    return Rests(
        connected=connected,
        awaited=peer is not None and peer.listens and not connected,
        addressed=sut.names_queues or any(not each.from_sut and each.kind == "UserMessage" for each in frames),
        provisioned=frozenset(sut.provisioned - {PROVISIONED}),
        reads="qm2qm" in find_needs(item) and not remote,
        known_peer=sut.knows_peer,
        came=frozenset(frame.number for frame in frames if frame.from_sut),
    )
