"""Faults that break rules of MS-MQQB 3.1.5.1 Receiving Any Packet and of 3.1.5.1.2 and 3.1.5.1.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

from harness.faults.packet_sizes import identify_packets_by_size
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import BytesReceived, Input

add(
    "sender-element-received-ack-never-set",
    "MQQB-3.1.5.1-01",
    "The sender's ReceivedAck stays FALSE when a packet arrives.",
    omit_step(Identifying.note_packet_received),
)


@fault("sender-received-message-not-counted-as-activity", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderReceivedMessageNotCountedAsActivity(MessageReceiving):
    """The sender does not count a received message as activity: only a SessionAck keeps the session open."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is None:
            session.ReceivedAck = False
        super().receive_user_message(session, packet, now)


@fault("sender-user-message-packet-not-counted-as-activity", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderUserMessagePacketNotCountedAsActivity(Identifying):
    """The sender does not set ReceivedAck to TRUE when it receives a UserMessage."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_message = False

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        before = session.ReceivedAck
        super().receive_packet(session, data, now)
        if self.is_message:
            session.ReceivedAck = before

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        self.is_message = isinstance(packet, UserMessagePacket)
        return packet


@fault("sender-received-ack-not-set-by-express-message", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderReceivedAckNotSetByExpressMessage(MessageReceiving):
    """The sender does not set ReceivedAck when it receives an express user message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not packet.UserHeader.DM:
            session.ReceivedAck = False
        super().receive_user_message(session, packet, now)


_sessions_with_expired_timer: WeakKeyDictionary[QueueManager, set[str | None]] = WeakKeyDictionary()


@fault("sender-received-ack-not-set-after-first-timer-expiry", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderReceivedAckNotSetAfterFirstTimerExpiry(SessionAcks):
    """After the first expiry of the Session Ack Wait Timer, the sender no longer sets ReceivedAck when it receives a
    packet.
    """

    def on_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        expired = _sessions_with_expired_timer.setdefault(self.qm, set())
        if session.transport in expired:
            session.ReceivedAck = False
        expired.add(session.transport)
        super().on_session_ack_wait_timer(session, now)


add(
    "any-packet-of-572-bytes-taken-as-establish-connection",
    ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
    "A queue manager treats each packet of 572 bytes as an EstablishConnection, regardless of IN.",
    identify_packets_by_size(572),
)


add(
    "any-packet-with-wrong-signature-ignored",
    ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01"),
    "A queue manager keeps the session open after a packet with a wrong version or signature.",
    omit_step(Identifying.close_session_after_wrong_signature),
)


add(
    "any-malformed-packet-ignored",
    ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
    "A queue manager keeps the session open after an incorrectly formatted packet.",
    omit_step(SessionClosing.close_session_after_malformed_packet),
)


@fault("initiator-malformed-packet-before-parameters-response-ignored", breaks="MQQB-3.1.5.1-05", blind=True)
class InitiatorMalformedPacketBeforeParametersResponseIgnored(Identifying):
    """An initiator that waits for the ConnectionParameters response ignores malformed packets."""

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_CPR_MSG:
            try:
                self.check_field_values(self.identify_packet(data))
            except FormatError:
                return
        super().receive_packet(session, data, now)


@fault("queue-manager-packet-after-first-message-not-validated", breaks="MQQB-3.1.5.1-05", blind=True)
class QueueManagerPacketAfterFirstMessageNotValidated(Identifying):
    """After the queue manager has received a message on a session, it does not check the form of later packets of this
    session.
    """

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and session.MessageReceivedCount:
            try:
                self.check_field_values(self.identify_packet(data))
            except FormatError:
                return
        super().receive_packet(session, data, now)


@fault("initiator-packet-with-wrong-signature-ignored", breaks="MQQB-3.1.5.1.2-01", blind=True)
class InitiatorPacketWithWrongSignatureIgnored(Identifying):
    """The initiator keeps its session open after a packet with a wrong signature."""

    def close_session_after_wrong_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().close_session_after_wrong_signature(session, error, now)


SIGNATURE = b"LIOR"


def _change_received_bytes(change: Callable[[bytes], bytes], meant: Callable[[Session], bool]) -> Install:
    """Change the bytes that arrive on sessions that meet a condition."""

    def install_change(faulty: FaultyCore) -> None:
        def filter_bytes(event: Input) -> Iterable[Input]:
            if isinstance(event, BytesReceived):
                session = faulty.core.transports.get(event.transport)
                if isinstance(session, Session) and meant(session):
                    return [replace(event, data=change(event.data))]
            return [event]

        faulty.input_filters.append(filter_bytes)

    return install_change


def _correct_version_byte(data: bytes) -> bytes:
    return b"\x10" + data[1:] if data[:1] == b"\x11" else data


def _correct_end_of_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if data[4:6] == SIGNATURE[:2] else data


def _correct_case_of_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if data[4:8].upper() == SIGNATURE else data


def _correct_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if len(data) >= 16 else data


for name, rule, says, change, meant in (
    (
        "queue-manager-packet-of-version-0x11-accepted",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager accepts packets with VersionNumber 0x11.",
        _correct_version_byte,
        lambda session: True,
    ),
    (
        "queue-manager-signature-compared-in-two-bytes",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager compares only the first two bytes of Signature.",
        _correct_end_of_signature,
        lambda session: True,
    ),
    (
        "queue-manager-signature-compared-without-case",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager accepts a Signature in lower case.",
        _correct_case_of_signature,
        lambda session: True,
    ),
    (
        "initiator-signature-of-responses-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An initiator does not compare Signature of the packets of the session set-up.",
        _correct_signature,
        lambda session: session.initiator and session.SessionState is not SessionState.OPEN,
    ),
    (
        "initiator-signature-on-open-session-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An initiator does not compare Signature of packets that arrive on its open session.",
        _correct_signature,
        lambda session: session.initiator and session.SessionState is SessionState.OPEN,
    ),
    (
        "acceptor-signature-on-open-session-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An acceptor does not compare Signature of packets that arrive on an open session.",
        _correct_signature,
        lambda session: not session.initiator and session.SessionState is SessionState.OPEN,
    ),
):
    add(name, rule, says, _change_received_bytes(change, meant), blind=True)


_VERSION_BYTE = b"\x10"


_BASE_HEADER_SIGNATURE = b"LIOR"


class _ReceivedPacketSplitter(Identifying):
    def list_packet_offsets(self, data: bytes) -> list[int]:
        found, at = [], 0
        while at + 16 <= len(data):
            found.append(at)
            at += int.from_bytes(data[at + 8 : at + 12], "little") or len(data)
        return found


@fault(
    "queue-manager-signature-of-second-packet-in-segment-not-verified",
    breaks=("MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01"),
    blind=True,
)
class QueueManagerSignatureOfSecondPacketInSegmentNotVerified(_ReceivedPacketSplitter):
    """The queue manager verifies VersionNumber and Signature only in the first of several packets that
    arrive together.
    """

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        for at in self.list_packet_offsets(data)[1:]:
            data = data[:at] + _VERSION_BYTE + data[at + 1 : at + 4] + _BASE_HEADER_SIGNATURE + data[at + 8 :]
        super().receive_bytes(session, data, now)


@fault("receiver-message-with-wrong-version-stored-before-close", breaks="MQQB-3.1.5.1.2-01", blind=True)
class ReceiverMessageWithWrongVersionStoredBeforeClose(Identifying):
    """The receiver stores a user message with a wrong VersionNumber before it closes the session."""

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and data[0] != 0x10 and data[4:8] == _BASE_HEADER_SIGNATURE:
            super().receive_bytes(session, _VERSION_BYTE + data[1:], now)
            if session.SessionState is SessionState.OPEN:
                error = FormatError("BaseHeader.VersionNumber", 0, "a fault", "the value is wrong")
                self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            return
        super().receive_bytes(session, data, now)


@fault("initiator-malformed-packet-ignored", breaks="MQQB-3.1.5.1.3-01", blind=True)
class InitiatorMalformedPacketIgnored(SessionClosing):
    """The initiator keeps its session open after an incorrectly formatted packet."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().close_session_after_malformed_packet(session, error, now)


@fault("receiver-malformed-packet-on-second-session-ignored", breaks="MQQB-3.1.5.1.3-01", blind=True)
class ReceiverMalformedPacketOnSecondSessionIgnored(SessionClosing):
    """While another session is open, the receiver discards a malformed packet, but keeps the session of this packet
    open.
    """

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one is not session]
        if not any(one.SessionState is SessionState.OPEN for one in others):
            super().close_session_after_malformed_packet(session, error, now)


@fault("receiver-malformed-packet-closes-every-session", breaks="MQQB-3.1.5.1.3-01", blind=True)
class ReceiverMalformedPacketClosesEverySession(SessionClosing):
    """After a malformed packet, the receiver closes all sessions of the sender of this packet."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        super().close_session_after_malformed_packet(session, error, now)
        for other in list(self.qm.sessions.values()):
            if other.RemoteQMGuid == session.RemoteQMGuid and other.SessionState is SessionState.OPEN:
                self.close(other, "a fault", now)


@fault("initiator-wrong-signature-in-open-session-ignored", breaks="MQQB-3.1.5.1-04", blind=True)
class InitiatorWrongSignatureInOpenSessionIgnored(Identifying):
    """The initiator of an open session keeps the session open after a packet with a wrong version or signature."""

    def close_session_after_wrong_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not (session.initiator and session.SessionState is SessionState.OPEN):
            super().close_session_after_wrong_signature(session, error, now)


@fault("acceptor-wrong-signature-after-first-message-ignored", breaks="MQQB-3.1.5.1-04", blind=True)
class AcceptorWrongSignatureAfterFirstMessageIgnored(Identifying):
    """The receiver verifies the signature only until it has received a message on the session."""

    def close_session_after_wrong_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.MessageReceivedCount:
            super().close_session_after_wrong_signature(session, error, now)


@fault("initiator-wrong-signature-before-open-session-ignored", breaks="MQQB-3.1.5.1-04", blind=True)
class InitiatorWrongSignatureBeforeOpenSessionIgnored(Identifying):
    """The initiator of a session that is not open ignores a packet with a wrong version or signature."""

    def close_session_after_wrong_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator or session.SessionState is SessionState.OPEN:
            super().close_session_after_wrong_signature(session, error, now)


@fault("initiator-malformed-packet-on-open-session-skipped", breaks="MQQB-3.1.5.1.3-01", blind=True)
class InitiatorMalformedPacketOnOpenSessionSkipped(Identifying):
    """A queue manager discards an incorrectly formatted packet on an open session that it initiated, but does not
    close the session.
    """

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if session.initiator and session.SessionState is SessionState.OPEN:
            try:
                self.check_field_values(self.identify_packet(data))
            except FormatError:
                self.note_packet_received(session)
                return
        super().receive_packet(session, data, now)
