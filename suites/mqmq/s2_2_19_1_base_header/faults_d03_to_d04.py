"""Faults that break the rules MQMQ-2.2.19.1-D03 to MQMQ-2.2.19.1-D04."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import (
    MAX_PACKET_SIZE,
    FormatError,
    Packet,
    UserMessagePacket,
)
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_1_base_header.fault_steps import SECONDS_PER_HOUR


@fault("receiver-packet-of-4-mib-refused", breaks="MQMQ-2.2.19.1-D03")
class ReceiverPacketOf4MibRefused(Identifying):
    """The receiver refuses a packet of 4 MiB."""

    def check_field_values(self, packet: Packet) -> None:
        if packet.BaseHeader.PacketSize >= MAX_PACKET_SIZE:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "the value is too large")
        super().check_field_values(packet)


@fault("receiver-packet-of-0x400000-bytes-refused", breaks="MQMQ-2.2.19.1-D03", blind=True)
class ReceiverPacketOf0x400000BytesRefused(Identifying):
    """The receiver refuses a packet with PacketSize 0x00400000."""

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        if packet.BaseHeader.PacketSize == 0x00400000:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "the value is 0x00400000")


SECONDS_PER_YEAR = 365 * 24 * SECONDS_PER_HOUR


@fault("receiver-expires-infinite-time-to-reach-queue-after-one-year", breaks="MQMQ-2.2.19.1-D04")
class ReceiverExpiresInfiniteTimeToReachQueueAfterOneYear(MessageLifetimes):
    """The receiver treats a message with TimeToReachQueue 0xFFFFFFFF as expired after a year."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return super().has_message_expired(packet, now) or now.utc_s - packet.UserHeader.SentTime > SECONDS_PER_YEAR


@fault("receiver-time-to-reach-queue-zero-never-expires", breaks="MQMQ-2.2.19.1-D04", blind=True)
class ReceiverTimeToReachQueueZeroNeverExpires(MessageAdmission):
    """The receiver treats a message with TimeToReachQueue 0 as a message that never expires."""

    def check_expiration(self, session: Any, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if not packet.BaseHeader.TimeToReachQueue:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-reads-time-to-reach-queue-as-signed", breaks="MQMQ-2.2.19.1-D04")
class ReceiverReadsTimeToReachQueueAsSigned(MessageLifetimes):
    """A queue manager treats every message with a TimeToReachQueue from 0x80000000 to 0xFFFFFFFE as expired."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return 0x80000000 <= packet.BaseHeader.TimeToReachQueue < 0xFFFFFFFF or super().has_message_expired(packet, now)
