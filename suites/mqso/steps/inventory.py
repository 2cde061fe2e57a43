"""Creates queues with messages and other objects, and compares the objects that survive a restart with
those before it.
"""

from __future__ import annotations

import base64
from typing import Any

from harness.peer.peer import Peer
from harness.sut.control import ControlRefused
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.messages import Sequence

LONG_LABEL = "L" * 249
"""The longest label of a message (MS-MQMQ 2.2.19.3)."""
MESSAGE_LIFETIME_S = 5
EXPIRING_MESSAGE_LABEL = "expires"
QUEUE_PROPERTIES = {
    "label": "of the plain queue",
    "journaling": True,
    "quota_kb": 900,
    "journal_quota_kb": 300,
    "base_priority": -7,
    "type": "6d71636f-6e66-4f72-8d00-000000000042",
}
PEEK_REFUSED_MESSAGE = {"label": "the SUT refuses to peek", "message_id": ""}
QUEUE_COUNT_PROPERTIES = ("count", "bytes")
INVENTORY_QUEUE_KINDS = ("plain", "transactional")


class QueueInventory:
    """Two queues with subqueues and journals, and with messages of all kinds from an application and from the peer."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.peer, self.sut = peer, sut
        self.queues = {
            "plain": sut.new_queue("kept-plain", **QUEUE_PROPERTIES),
            "transactional": sut.new_queue("kept-transactional", transactional=True, journaling=True, base_priority=9),
            "empty": sut.new_queue("kept-empty", label="empty", authenticated=True, privacy="body"),
        }
        self.subqueues = sut.has("subqueues")
        for kind in INVENTORY_QUEUE_KINDS:
            self._fill_queue_of_kind(kind)

    def _fill_queue_of_kind(self, kind: str) -> None:
        """Store, receive and move messages of one queue."""
        sut, queue = self.sut, self.queues[kind]
        delivery = "recoverable" if kind == "plain" else "transactional"
        sut.send_here(queue, ["journaled", "journaled too"], delivery=delivery)
        for _ in range(2):
            sut.control.call("receive", queue=queue, timeout_ms=0)
        for label in ("moved", "moved too") if self.subqueues else ():
            sut.send_here(queue, [label], delivery=delivery)
        if self.subqueues:
            sut.create_queue(f"{queue};mqc-kept")
            for one in sut.control.call("peek", queue=queue, limit=10)["messages"]:
                sut.control.call("move", queue=queue, lookup_id=lookup_id(one), to=f"{queue};mqc-kept")
        self._send_messages_with_extreme_properties(queue, delivery)
        sut.send_here(queue, [EXPIRING_MESSAGE_LABEL], delivery=delivery, time_to_be_received_s=MESSAGE_LIFETIME_S)
        destination = rf"TCP:{sut.address}\{queue}"
        if kind == "plain":
            sut.send_here(queue, ["express"], delivery="express", priority=7)
            packets = [
                self.peer.recoverable_message(destination=destination, label=label) for label in ("of peer", "second")
            ]
        else:
            sequence = Sequence(self.peer)
            packets = [sequence.message(destination=destination, label=label) for label in ("of peer", "second")]
        connection = self.peer.open_raw()
        for packet in packets:
            connection.send(packet)
        self.peer.eventually(lambda: "second" in sut.labels(queue))

    def _send_messages_with_extreme_properties(self, queue: str, delivery: str) -> None:
        """Send messages with every property set, with the longest label, with no body, and with the lowest and the
        highest priority.
        """
        to = self.sut.direct_name(queue)
        self.sut.send(
            to,
            label=LONG_LABEL,
            body_base64=base64.b64encode(bytes(range(256)) * 5).decode(),
            body_type=0x1011,
            delivery=delivery,
            acks=["positive_receive", "negative_receive"],
            admin_queue=self.peer.direct_name("mqc-kept-admin"),
            response_queue=self.peer.direct_name("mqc-kept-response"),
            time_to_be_received_s=86_400,
            time_to_reach_queue_s=3_600,
            journal=["positive", "negative"],
            application_tag=0xFEDCBA98,
        )
        for priority in (0, 7, 3) if delivery == "recoverable" else (0, 0, 0):
            self.sut.send(to, label=f"priority {priority}", body="", delivery=delivery, priority=priority)

    def read_queue_properties(self) -> dict[str, Any]:
        """Return the properties of each queue, without the number and the size of its messages."""
        shown = {name: self.sut.control.call("get_queue", name=queue) for name, queue in self.queues.items()}
        return {
            name: {key: value for key, value in one.items() if key not in (*QUEUE_COUNT_PROPERTIES, "id", "ok")}
            for name, one in shown.items()
        }

    def build_path_name_by_queue_part(self, kind: str) -> dict[str, str]:
        """Return the path names of the places in which one queue keeps messages: the queue itself, its subqueue and its
        journal.
        """
        queue = self.queues[kind]
        found = {"queue": queue, "journal": f"{queue};journal"}
        return found | ({"subqueue": f"{queue};mqc-kept"} if self.subqueues else {})

    def messages(self, kind: str) -> dict[str, list[dict[str, Any]]]:
        """Return all messages of each place of one queue with every shown property; omit messages that are express or
        that expire.
        """
        return {
            place: [
                one
                for one in self._peek_messages_of_queue(name)
                if one["label"] not in (EXPIRING_MESSAGE_LABEL, "express")
            ]
            for place, name in self.build_path_name_by_queue_part(kind).items()
        }

    def labels(self, kind: str) -> list[str]:
        """Return the labels of all messages of one queue, its subqueue and its journal."""
        return [
            one["label"]
            for name in self.build_path_name_by_queue_part(kind).values()
            for one in self._peek_messages_of_queue(name)
        ]

    def list_message_identifiers(self) -> set[str]:
        """Return the identifiers of all messages."""
        return {
            one["message_id"]
            for kind in INVENTORY_QUEUE_KINDS
            for name in self.build_path_name_by_queue_part(kind).values()
            for one in self._peek_messages_of_queue(name)
        }

    def _peek_messages_of_queue(self, queue: str) -> list[dict[str, Any]]:
        try:
            return list(self.sut.control.call("peek", queue=queue, limit=100)["messages"])
        except ControlRefused:
            return [PEEK_REFUSED_MESSAGE]

    def await_expiration_of_message(self, kind: str) -> bool:
        """Wait until the lifetime of the expiring message has passed; return whether the message has left its queue."""
        return self.sut.environment.run_until(
            lambda: EXPIRING_MESSAGE_LABEL not in self.labels(kind),
            (MESSAGE_LIFETIME_S + 2) * 1_000 + self.sut.response_timeout_ms,
        )
