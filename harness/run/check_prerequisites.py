"""Determine on which prerequisites the verdicts of a check depend, such as a connection from the system to the peer.
This happens at the end of the check, before its fixtures are released.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.capture.recorder import RPC_TRANSPORT_NAME
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.run.checks import find_needs
from harness.sut.own_queues import PROVISIONED_QUEUE_KEY

if TYPE_CHECKING:
    import pytest

_CLOSED_WORD_PATTERN = re.compile(r"(?<!not )\bclosed\b")
"""Matches the word "closed" in an observation about a connection that the system closed."""


@dataclass(frozen=True, slots=True)
class CheckPrerequisites:
    """The prerequisites on which the verdicts of a check depend. ``has_system_connected``: whether the system connected
    to the peer's port for sessions, not only to its RPC port. ``was_connection_awaited_in_vain``: whether the peer
    waited in vain for a connection. ``was_system_queue_addressed``: whether the check named a queue of the system or
    sent a message to a queue, so that a name of the system had to be correct. ``used_queue_keys``: the keys of [queues]
    that the check used. ``needs_unobserved_remote_read``: whether the check needs remote reading, but no remote read
    was observed. ``uses_peer_of_sut_file``: whether the peer of the check is the peer of the SUT file.
    ``numbers_of_frames_from_sut``: the numbers of the frames received from the system.
    """

    has_system_connected: bool = False
    was_connection_awaited_in_vain: bool = False
    was_system_queue_addressed: bool = False
    used_queue_keys: frozenset[str] = frozenset()
    needs_unobserved_remote_read: bool = False
    uses_peer_of_sut_file: bool = False
    numbers_of_frames_from_sut: frozenset[int] = frozenset()

    @property
    def depends_on_prerequisite(self) -> bool:
        """Whether the check depends on prerequisites that can be checked."""
        return (
            self.was_connection_awaited_in_vain
            or self.was_system_queue_addressed
            or self.needs_unobserved_remote_read
            or self.uses_peer_of_sut_file
        )

    def is_proven_by_received_frames(self, entry: VerdictEntry) -> bool:
        """Return whether all packets that a verdict names were received from the system. In this case, no missing
        prerequisite can explain the verdict.
        """
        return bool(entry.evidence) and all(one.frame in self.numbers_of_frames_from_sut for one in entry.evidence)

    def is_pass_based_on_silence(self, entry: VerdictEntry) -> bool:
        """Return whether a pass is based on the absence of a packet (silence). Such a pass is valid only if a packet
        could have arrived. An observation that the system closed a connection is not silence.
        """
        return entry.verdict is Verdict.PASS and not entry.heard and _CLOSED_WORD_PATTERN.search(entry.observed) is None


def get_prerequisites(item: pytest.Item) -> CheckPrerequisites:
    """Return the prerequisites of a finished check. The fixtures of the check must still exist."""
    fixtures: dict[str, Any] = item.funcargs  # type: ignore[attr-defined]
    sut, peer = fixtures.get("sut"), fixtures.get("peer")
    if sut is None:
        return CheckPrerequisites()
    frames = peer.recorder.frames if peer is not None else ()
    connected = peer is not None and any(
        one.sut_role == "initiator" and one.transport != RPC_TRANSPORT_NAME for one in peer.recorder.connections
    )
    remote = any(frame.from_sut and frame.transport == RPC_TRANSPORT_NAME for frame in frames)
    return CheckPrerequisites(
        has_system_connected=connected,
        was_connection_awaited_in_vain=peer is not None and peer.listens and not connected,
        was_system_queue_addressed=sut.has_named_queue
        or any(not each.from_sut and each.kind == "UserMessage" for each in frames),
        used_queue_keys=frozenset(sut.provisioned - {PROVISIONED_QUEUE_KEY}),
        needs_unobserved_remote_read="qm2qm" in find_needs(item) and not remote,
        uses_peer_of_sut_file=sut.knows_peer,
        numbers_of_frames_from_sut=frozenset(frame.number for frame in frames if frame.from_sut),
    )
