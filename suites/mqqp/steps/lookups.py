"""Reading by LookupIdentifiers, as far as a reader knows them. Spec: MS-MQQP 3.1.4.11."""

from __future__ import annotations

from typing import Any

from harness.peer.association import Call
from harness.peer.remote import LOOKUP, RemoteQueue, packet_of
from harness.wire.rpc_qm2qm import FIRST_ID, LOOKUP_PEEK_CURRENT, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV
from suites.mqqp.steps.reading import brought

WAYS = (LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV, LOOKUP_PEEK_CURRENT)


def looked_up(queue: RemoteQueue, action: int, lookup_id: int, **fields: Any) -> Call:
    """Read by a LookupId."""
    return queue.read(action, by=LOOKUP, lookup_id=lookup_id, **fields)


def candidates(sequential_id: int, read: Call) -> list[int]:
    """Return the LookupIdentifiers that a message may have, of which a read brought the lower 7 bytes.

    The highest byte is 0 or 7 less the priority (errata E59).
    """
    packet = packet_of(read)
    priorities = [] if packet is None else [packet["BaseHeader"].PR, 0]
    return list(dict.fromkeys([sequential_id, *((7 - one << 56) | sequential_id for one in priorities)]))


def by_sequential_id(queue: RemoteQueue, sequential_id: int, read: Call) -> str:
    """Return what a lookup of the message brings that a read brought with this SequentialId."""
    label = brought(read)
    found = [brought(looked_up(queue, LOOKUP_PEEK_CURRENT, one)) for one in candidates(sequential_id, read)]
    return label if label in found else found[0]


def identifiers(queue: RemoteQueue, count: int) -> list[int]:
    """Return the LookupIdentifiers of the first messages, from the front on, as far as a reader can find them out.

    One that names a message leads to that or to one beside it.
    """
    found: list[int] = []
    read = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    while len(found) < count and packet_of(read) is not None:
        tried = candidates(read.out.lpRemoteReadDesc2.SequentialId, read)
        known = [one for one in tried if any(looked_up(queue, way, one).outcome == "MQ_OK" for way in WAYS)]
        if not known:
            break
        found.append(known[0])
        read = looked_up(queue, LOOKUP_PEEK_NEXT, found[-1])
    return found
