"""Find the LookupIdentifiers of messages by remote reads. Spec: MS-MQQP 3.1.4.11."""

from __future__ import annotations

from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from harness.wire.rpc_qm2qm import Action, LookupId

_LOOKUP_PEEK_ACTIONS = (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_PEEK_PREV, Action.LOOKUP_PEEK_CURRENT)
_LOW_SEVEN_BYTES_MASK = (1 << 56) - 1
"""The mask of the bytes of a LookupIdentifier that form the SequentialId."""


def list_candidate_lookup_ids(sequential_id: int, read: Call) -> list[int]:
    """Return the LookupIdentifiers that the message returned by a read may have. The lower 7 bytes of each are the
    SequentialId of the read.

    The highest byte is 0 or 7 minus the priority (erratum E59).
    """
    packet = read.packet
    priorities = [] if packet is None else [packet["BaseHeader"].PR, 0]
    return list(dict.fromkeys([sequential_id, *((7 - one << 56) | sequential_id for one in priorities)]))


def find_label_by_sequential_id(queue: RemoteQueue, sequential_id: int, read: Call) -> str:
    """Look up the message that a read returned, by the SequentialId in the same response; return the label or the
    outcome.
    """
    found = [
        queue.look_up(Action.LOOKUP_PEEK_CURRENT, one).label_or_outcome
        for one in list_candidate_lookup_ids(sequential_id, read)
    ]
    return read.label_or_outcome if read.label_or_outcome in found else found[0]


def find_lookup_ids(queue: RemoteQueue, count: int) -> list[int]:
    """Return the LookupIdentifiers of the first messages of a queue, up to the first message that lookups do not
    confirm.

    A lookup confirms a LookupIdentifier if the lookup finds the message with this identifier, or the message before or
    after it.
    """
    found: list[int] = []
    read = queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)
    while len(found) < count and read.packet is not None:
        valid = [
            one
            for one in list_candidate_lookup_ids(read.sequential_id_of_read or 0, read)
            if any(queue.look_up(action, one).outcome == "MQ_OK" for action in _LOOKUP_PEEK_ACTIONS)
        ]
        if not valid:
            break
        found.append(valid[0])
        read = queue.look_up(Action.LOOKUP_PEEK_NEXT, found[-1])
    return found


def read_sequential_ids_by_label(sut: Sut, kind: str = "plain") -> dict[str, int]:
    """Return the lower 7 bytes of the LookupIdentifier of each message in a queue of the SUT, by label."""
    return {message["label"]: lookup_id(message) & _LOW_SEVEN_BYTES_MASK for message in sut.messages(kind)}
