"""Transactional messages of the peer to queues of the SUT, built without a core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.peer.party import NO_CHANGED_FIELDS, CounterpartOfSut, PositionsInSequenceOfPeer

BODY_TYPE = 0x1F
"""The BodyType of a transactional message, VT_LPWSTR, which differs from the BodyType of its order acknowledgments."""


class Sequence(PositionsInSequenceOfPeer):
    """A transactional sequence of the peer; ``ordinal``, 1 to 15, distinguishes the sequences of one test."""

    def __init__(self, peer: CounterpartOfSut, ordinal: int = 1) -> None:
        super().__init__(peer, ordinal)
        self.peer = peer

    def message(
        self,
        user: Mapping[str, Any] = NO_CHANGED_FIELDS,
        *,
        queue: str = "transactional",
        transaction: Mapping[str, Any] = NO_CHANGED_FIELDS,
        **headers: Any,
    ) -> Any:
        """Build the next message of the sequence. The message is the only message of its transaction, unless
        ``transaction`` has fields that change this.
        """
        place = self.get_next_message_fields() | dict(transaction)
        properties = {"BodyType": BODY_TYPE, **headers.pop("properties", NO_CHANGED_FIELDS)}
        return self.peer.message({"DM": 1, **user}, queue=queue, transaction=place, properties=properties, **headers)
