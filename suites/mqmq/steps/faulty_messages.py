"""Steps of faults in sent and received messages of one kind, for faults of several sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

PacketCondition = Callable[[Any], Any]
"""The type of conditions that select packets."""


def drop_messages(when: PacketCondition) -> Install:
    """Return an installer of a fault with which the receiver acknowledges a message on its session, but does not put
    the message into its queue, if a condition is true.
    """

    class ReceivedMessageDropper(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            if when(packet):
                receipt.is_on_disk = True
            else:
                super().put_received_message_into_queue(session, packet, receipt, now)

    return replace_part(ReceivedMessageDropper)


def misread_messages(change: Callable[[Any], Any], when: PacketCondition) -> Install:
    """Return an installer of a fault with which the receiver reads values that differ from those in a received message,
    if a condition is true.
    """

    class ReceivedMessageMisreader(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            super().put_received_message_into_queue(session, change(packet) if when(packet) else packet, receipt, now)

    return replace_part(ReceivedMessageMisreader)


def refuse_packets(kind: type[Packet], when: PacketCondition) -> Install:
    """Return an installer of a fault with which the receiver treats a packet of one kind as malformed, if a condition
    is true.
    """

    class ReceivedPacketRefuser(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            if isinstance(packet, kind) and when(packet):
                raise FormatError("BaseHeader", 0, "a fault", "the packet is not expected")
            super().check_field_values(packet)

    return replace_part(ReceivedPacketRefuser)


def ignore_packets(kind: type[Packet], when: PacketCondition, *, initiator: bool | None = None) -> Install:
    """Return an installer of a fault with which the initiator, the acceptor or both (None) ignore a received packet
    of one kind, if a condition is true.
    """

    class ReceivedPacketIgnorer(Identifying):
        def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
            packet = self.identify_packet_or_none(data)
            role_is_meant = initiator is None or session.initiator is initiator
            if not (role_is_meant and isinstance(packet, kind) and when(packet)):
                super().receive_packet(session, data, now)

        def identify_packet_or_none(self, data: bytes) -> Packet | None:
            """Return the parsed packet, or None if the packet is malformed."""
            try:
                return self.identify_packet(data)
            except FormatError:
                return None

    return replace_part(ReceivedPacketIgnorer)


def change_sent_packets_starting_with_number(
    kind: type[Packet], number: int, change: Callable[[Any], bytes], group: Callable[[Any], Hashable]
) -> Install:
    """Return an installer of a fault that changes the bytes of sent packets from a given number on. Packets of one
    kind are counted in groups: ``group`` returns the group of a packet, or None for packets that stay unchanged.
    """

    def install_with_packet_counts(faulty: Any) -> None:
        counts: Counter[Hashable] = Counter()

        def change_counted_packet(packet: Any) -> bytes:
            data: bytes = packet.build()
            key = group(packet)
            if key is None:
                return data
            counts[key] += 1
            return change(packet) if counts[key] >= number else data

        change_packets_of_kind(kind, change_counted_packet)(faulty)

    return install_with_packet_counts
