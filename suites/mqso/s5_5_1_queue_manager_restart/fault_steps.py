"""Steps of the faults of MS-MQSO 5.5.1: what a restart loses."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.enterprise.state_restoring import StateRestoring


class RestartThatLosesStoredMessages(StateRestoring):
    """A restart that loses those entries of the store that a subclass selects."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore({name: value for name, value in entries.items() if not self.is_entry_lost(name, value)})

    def is_entry_lost(self, name: str, value: Any) -> bool:
        """Return whether the restart loses an entry."""
        if not name.startswith("message:") or "removed" in value or "awaits" in value:
            return False
        return self.is_message_lost(str(value["in"]), read_packet_of_entry(value), value)

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        """Return whether the restart loses a message. ``place`` is the name of its queue in the store."""
        return False


class SecondRestartThatLosesStoredMessages(RestartThatLosesStoredMessages):
    """A second restart that loses messages which the first restart restored. The entry of such a message has a mark."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for name, value in entries.items():
            if name.startswith("message:") and isinstance(value, dict) and not self.is_entry_lost(name, value):
                self.qm.disk.save({name: {**value, "survived": True}})


def read_packet_of_entry(value: dict[str, Any]) -> UserMessagePacket:
    """Return the packet of the entry of a message."""
    packet = parse_packet(base64.b64decode(value["packet"]))
    assert isinstance(packet, UserMessagePacket)
    return packet


def is_outgoing_queue_in_store(place: str) -> bool:
    """Return whether a place in the store is an outgoing queue."""
    return place.startswith("outgoing:")


def is_application_queue_in_store(place: str) -> bool:
    """Return whether a place in the store is a queue of an application, without journals and subqueues."""
    return place.startswith("queue:") and ";" not in place
