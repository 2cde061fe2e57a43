"""Transactional messages of the peer to queues of the SUT, built without a core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.peer.party import NONE, Party
from harness.wire import TxSequenceID


class Sequence:
    """A transactional sequence of the peer; ``ordinal``, 1 to 15, distinguishes the sequences of one test.

    A later sequence has a greater TxSequenceID, even in a later test within the same second.
    """

    def __init__(self, peer: Party, ordinal: int = 1) -> None:
        self.peer = peer
        base = (peer.message_id() & 0x0FFF_FFFF) << 4
        self.identifier = TxSequenceID(Ordinal=base + ordinal, TimeStamp=peer.environment.now().utc_s)
        self.number = 0

    def message(
        self,
        user: Mapping[str, Any] = NONE,
        *,
        queue: str = "transactional",
        transaction: Mapping[str, Any] = NONE,
        **headers: Any,
    ) -> Any:
        """Build the next message of the sequence; it is a whole transaction unless ``transaction`` contains other
        fields.
        """
        self.number += 1
        place = {
            "FM": 1,
            "LM": 1,
            "ID": self.number,
            "TxSequenceID": self.identifier,
            "TxSequenceNumber": self.number,
            "PreviousTxSequenceNumber": self.number - 1,
        }
        return self.peer.message({"DM": 1, **user}, queue=queue, transaction=place | dict(transaction), **headers)
