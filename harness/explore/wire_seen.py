"""Collect the messages and the acknowledgments of all kinds that a system sends to a peer without a core."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.peer.conversation import Conversation, RawConversation
from harness.peer.handshake import UNUSUAL_WINDOW_SIZE
from harness.peer.peer import Peer
from harness.wire import session_ack
from reference_qm.codec import (
    ConnectionParametersPacket,
    FormatError,
    MessageClass,
    OrderAckBody,
    SessionAckPacket,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.releases.names import NO_RELEASE

_SESSION_ACK_PACKET_TYPE = 1
"""InternalHeader.Flags.PT of a SessionAck (MS-MQMQ 2.2.20.1)."""
_MAX_MESSAGES_NAMED_BY_ACK = 32
"""The maximum number of recoverable messages that one SessionAck can acknowledge (MS-MQMQ 2.2.20.4)."""
_CLASS_PREFIX = "MQMSG_CLASS_"
_FINAL_ACK_SIZE = 36
"""The size of the body of a FinalAck (MS-MQQB 2.2.5.1)."""


class SystemPackets:
    """The packets that the system sends on all connections of a peer. The packets are read with the strict codec,
    which is fast.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._may_miscount = peer.sut.file.sut.profile != NO_RELEASE
        """Whether UserMsgSequenceNumber may differ from the number of messages (MS-MQMQ 2.2.20.4, note <14>)."""
        self._headers: dict[Connection, list[Any]] = defaultdict(list)
        """The SessionHeaders received on each connection."""
        self._recoverable_flags_of_received_messages: dict[Connection, list[bool]] = defaultdict(list)
        """For each connection, a list that states for each received message whether the message is recoverable."""
        self._sent: dict[Connection, list[bool]] = defaultdict(list)
        """For each connection, a list that states for each message from the peer whether the message is recoverable.
        """
        self._wrong_header_counts: dict[Connection, int] = defaultdict(int)
        """The number of SessionHeaders on each connection that contain a wrong count of the system's messages, a
        wrong window or wrong flags.
        """
        self._windows: dict[Connection, int] = {}
        """The WindowSize that the system sent on each connection."""
        self._acknowledged_message_counts: dict[Connection, int] = {}
        self.order_acks: list[OrderAckBody] = []
        self.final_acks: dict[int, UserMessagePacket] = {}
        """The acknowledgments by their own MessageIDs. A copy of an acknowledgment on another session counts as the
        same acknowledgment.
        """
        self.messages: list[UserMessagePacket] = []
        """The received messages that are not acknowledgments, including copies."""
        self.connections: dict[str, Connection] = {}
        """The connection of the last message to each direct name, in lower case."""
        self._used_connections: dict[str, set[Connection]] = defaultdict(set)
        """All connections of messages to each direct name."""
        peer.recorder.listeners.append(self._on_frame)

    def send(self, session: Conversation, packet: bytes) -> None:
        """Send a message from the peer on a session, and record whether it is recoverable."""
        parsed = parse_packet(packet)
        assert isinstance(parsed, UserMessagePacket)
        self._sent[session.record].append(parsed.UserHeader.DM == 1)
        session.send(packet)

    def sent(self, session: Conversation) -> list[bool]:
        """Return, for each message that the peer sent on a session, whether the message is recoverable."""
        return self._sent[session.record]

    def acknowledged(self, session: RawConversation) -> dict[str, int]:
        """Return the number of the peer's messages that were acknowledged on a session, and the number of
        recoverable messages among them.
        """
        headers = self._headers[session.record]
        return {
            "acknowledged": max((header.AckSequenceNumber for header in headers), default=0),
            "recoverable": self._count_acknowledged_recoverable(session.record),
            "wrong headers": self._wrong_header_counts[session.record],
        }

    def acknowledge_all_messages(self) -> None:
        """Acknowledge every message from the system, each on its own session. An acknowledgment names the recoverable
        messages that no earlier acknowledgment named. It counts only recoverable messages that the system has
        acknowledged, because a system need not count the messages that it refuses (erratum E19).
        """
        for conversation in self._peer.open_conversations:
            record = conversation.record
            came, sent = self._recoverable_flags_of_received_messages[record], self._sent[record]
            if record.closed_by is not None or self._acknowledged_message_counts.get(record, 0) == len(came):
                continue
            named = sum(came[: self._acknowledged_message_counts.get(record, 0)])
            self._acknowledged_message_counts[record] = len(came)
            first = max(sum(came) - _MAX_MESSAGES_NAMED_BY_ACK + 1, named + 1)
            conversation.send(
                session_ack(
                    WindowSize=UNUSUAL_WINDOW_SIZE if conversation in self._was_opened_by_peer() else 64,
                    AckSequenceNumber=len(came),
                    RecoverableMsgAckSeqNumber=min(first, sum(came)),
                    RecoverableMsgAckFlags=(1 << (sum(came) - first + 1)) - 1,
                    UserMsgSequenceNumber=len(sent),
                    RecoverableMsgSeqNumber=self._count_acknowledged_recoverable(record),
                )
            )

    def _count_acknowledged_recoverable(self, connection: Connection) -> int:
        headers = self._headers[connection]
        return len(
            {header.RecoverableMsgAckSeqNumber + bit for header in headers for bit in _list_numbers_of_set_bits(header)}
        )

    def uses_session_of_peer(self, destination: str) -> bool:
        """Return whether the system sent any message to a direct name on a session that the peer opened (erratum E16).
        If so, no single outgoing queue shows all messages to this name.
        """
        used = self._used_connections[destination]
        return any(one.record in used for one in self._was_opened_by_peer())

    def _was_opened_by_peer(self) -> list[Conversation]:
        return [one for one in self._peer.open_conversations if isinstance(one, RawConversation) and one.by_peer]

    def _on_frame(self, frame: Frame) -> None:
        if not frame.from_sut or frame.connection is None:
            return
        try:
            packet = parse_packet(frame.data)
        except FormatError:
            return  # the predicates of a run judge the packet; the model notices that it is missing
        if isinstance(packet, ConnectionParametersPacket):
            self._windows[frame.connection] = packet.ConnectionParametersHeader.WindowSize
        if isinstance(packet, UserMessagePacket):
            self._recoverable_flags_of_received_messages[frame.connection].append(packet.UserHeader.DM == 1)
            self._record_message(packet, frame.connection)
        if isinstance(packet, SessionAckPacket | UserMessagePacket) and packet.SessionHeader is not None:
            header, came = packet.SessionHeader, self._recoverable_flags_of_received_messages[frame.connection]
            self._headers[frame.connection].append(header)
            counted, recoverable = header.UserMsgSequenceNumber, header.RecoverableMsgSeqNumber
            wrong = (counted != len(came) and not self._may_miscount) or recoverable != sum(came)
            wrong |= header.WindowSize != self._windows.get(frame.connection, header.WindowSize)
            if isinstance(packet, SessionAckPacket):
                wrong |= not (
                    packet.BaseHeader.IN
                    and packet.BaseHeader.SH
                    and packet.InternalHeader.PT == _SESSION_ACK_PACKET_TYPE
                )
            self._wrong_header_counts[frame.connection] += wrong

    def _record_message(self, packet: UserMessagePacket, connection: Connection) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK:
            self.order_acks.append(OrderAckBody.parse(properties.MessageBody))
        elif (
            len(properties.MessageBody) == _FINAL_ACK_SIZE
            and properties.MessageClass != MessageClass.MQMSG_CLASS_NORMAL
        ):
            self.final_acks[packet.UserHeader.MessageID] = packet
        else:
            self.messages.append(packet)
            self.connections[get_destination_direct_name(packet)] = connection
            self._used_connections[get_destination_direct_name(packet)].add(connection)


def get_destination_direct_name(packet: UserMessagePacket) -> str:
    """Return the direct name of the destination of a message in lower case, or an empty string if the destination has
    no direct name.
    """
    return str(getattr(packet.UserHeader.DestinationQueue, "DirectFormatName", "")).lower().removeprefix("direct=")


def _list_numbers_of_set_bits(header: Any) -> list[int]:
    return [bit for bit in range(_MAX_MESSAGES_NAMED_BY_ACK) if header.RecoverableMsgAckFlags >> bit & 1]


def get_class_name(cls: int) -> str:
    """Return the name of a message class without its prefix."""
    return MessageClass(cls).name.removeprefix(_CLASS_PREFIX) if cls in set(MessageClass) else f"0x{cls:04X}"
