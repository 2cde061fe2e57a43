"""Faults that break the rules MQQB-3.1.5.3.2-07 to MQQB-3.1.5.3.2-D02."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.connection_history import change_connection_history_entries, omit_connection_history_entries
from harness.faults.fields import clear_bits, limit_to_sender_role, set_bits, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import PT_ESTABLISH_CONNECTION, ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now

add(
    "initiator-connection-parameters-request-not-sent",
    "MQQB-3.1.5.3.2-07",
    "The initiator sends no ConnectionParameters request after a valid response.",
    omit_step_during(SessionOpening.receive_establish_response, SessionConnecting.send),
)


@fault("initiator-response-to-retry-ignored", breaks="MQQB-3.1.5.3.2-07", blind=True)
class InitiatorResponseToRetryIgnored(SessionOpening):
    """The initiator ignores the response to the request of a retry."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if not session.is_retrying_connection:
            super().receive_establish_response(session, packet, now)


for _name, _rules, _says, _install in (
    (
        "initiator-connection-parameters-in-bit-clear",
        "MQQB-3.1.5.3.2-08",
        "The initiator's ConnectionParameters request has BaseHeader.Flags.IN clear.",
        clear_bits(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "initiator-connection-parameters-pt-2",
        "MQQB-3.1.5.3.2-09",
        "The initiator's ConnectionParameters request has PT 2.",
        set_field_value(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "initiator-connection-parameters-cs-set",
        "MQQB-3.1.5.3.2-10",
        "The initiator's ConnectionParameters request has CS set.",
        set_bits(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "initiator-connection-parameters-recoverable-timeout-20-s",
        "MQQB-3.1.5.3.2-11",
        "The initiator's ConnectionParameters request always has RecoverableAckTimeout 20 s.",
        set_field_value(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", 20_000),
    ),
    (
        "initiator-connection-parameters-ack-timeout-20-s",
        "MQQB-3.1.5.3.2-12",
        "The initiator's ConnectionParameters request always has AckTimeout 20 s.",
        set_field_value(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", 20_000),
    ),
    (
        "initiator-connection-parameters-window-size-1",
        "MQQB-3.1.5.3.2-13",
        "The initiator's ConnectionParameters request has WindowSize 1.",
        set_field_value(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 1),
    ),
):
    add(_name, _rules, _says, limit_to_sender_role("initiator", _install))


PARAMETERS_HEADER_NAME = "ConnectionParametersHeader"


@fault("initiator-ack-timeout-halved-in-parameters-request-of-retry", breaks="MQQB-3.1.5.3.2-12", blind=True)
class InitiatorAckTimeoutHalvedInParametersRequestOfRetry(SessionOpening):
    """The initiator sends the greater of 20,000 ms and half of AckWaitTimeout as AckTimeout in the ConnectionParameters
    request of a retry.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if not session.is_retrying_connection:
            return packet
        return set_fields(packet, {f"{PARAMETERS_HEADER_NAME}.AckTimeout": lambda old: max(20_000, old // 2)})


@fault("initiator-ack-timeout-doubled-in-retry", breaks="MQQB-3.1.5.3.2-12", blind=True)
class InitiatorAckTimeoutDoubledInRetry(SessionOpening):
    """The initiator sends AckWaitTimeout plus one as AckTimeout of the ConnectionParameters request in a retry."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if session.is_retrying_connection:
            return set_fields(packet, {"ConnectionParametersHeader.AckTimeout": lambda old: old + 1})
        return packet


@fault("initiator-window-size-1-in-parameters-request-of-retry", breaks="MQQB-3.1.5.3.2-13", blind=True)
class InitiatorWindowSize1InParametersRequestOfRetry(SessionOpening):
    """The initiator sends WindowSize 1 in the ConnectionParameters request of a retry."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return (
            set_fields(packet, {f"{PARAMETERS_HEADER_NAME}.WindowSize": 1})
            if session.is_retrying_connection
            else packet
        )


@fault("initiator-window-size-of-earlier-session-repeated", breaks="MQQB-3.1.5.3.2-13", blind=True)
class InitiatorWindowSizeOfEarlierSessionRepeated(SessionOpening):
    """The initiator sends the ReceivedWindowSize of its first session as WindowSize of its second ConnectionParameters
    request.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        if session.ReceivedWindowSize:
            return set_fields(packet, {"ConnectionParametersHeader.WindowSize": session.ReceivedWindowSize})
        return packet


@fault("initiator-session-state-waiting-cp-msg-after-parameters-request", breaks="MQQB-3.1.5.3.2-14")
class InitiatorSessionStateWaitingCpMsgAfterParametersRequest(SessionOpening):
    """The initiator sets the state of its session to WAITING_CP_MSG instead of WAITING_CPR_MSG after its
    ConnectionParameters request.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        if session.SessionState is SessionState.WAITING_CPR_MSG:
            session.SessionState = SessionState.WAITING_CP_MSG


@fault("initiator-parameters-response-with-window-0x8000-refused", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorParametersResponseWithWindow0x8000Refused(SessionOpening):
    """The initiator treats a ConnectionParameters response as a refusal if its WindowSize is 0x8000 or more."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.WindowSize & 0x8000:
            packet = set_fields(packet, {"InternalHeader.Flags": lambda old: old | 0x10})
        super().receive_parameters_response(session, packet, now)


add(
    "initiator-connection-history-establish-received-missing",
    "MQQB-3.1.5.3.2-15",
    "The initiator adds no entry with Status EstablishPacketReceived to ConnectionHistory.",
    omit_connection_history_entries({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}),
)


add(
    "initiator-connection-history-establish-received-error",
    "MQQB-3.1.5.3.2-15",
    "The initiator's ConnectionHistory entry with Status EstablishPacketReceived has an Error.",
    change_connection_history_entries({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}, Error=0x80004005),
)


@fault("initiator-connection-history-entry-missing-in-later-session", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorConnectionHistoryEntryMissingInLaterSession(SessionConnecting):
    """The initiator adds no ConnectionHistory entry with Status EstablishPacketReceived for an outgoing queue that
    already had an established session.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        before = any(entry.Status is ConnectionStatus.ESTABLISHED for entry in history)
        if status is not ConnectionStatus.ESTABLISH_PACKET_RECEIVED or not before:
            super().add_connection_history(session, status, now)


@fault("initiator-history-lacks-entry-of-response-in-retry", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorHistoryLacksEntryOfResponseInRetry(SessionConnecting):
    """The initiator adds no entry with Status EstablishPacketReceived to ConnectionHistory in a retry."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        if not (session.is_retrying_connection and status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED):
            super().add_connection_history(session, status, now)


@fault("initiator-establish-packet-received-entry-has-first-address", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorEstablishPacketReceivedEntryHasFirstAddress(SessionConnecting):
    """The initiator puts the first address of the host into AddressList of each entry with Status
    EstablishPacketReceived.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED:
            history[-1] = replace(history[-1], AddressList=session.NextHopCollection[0].Address)


@fault("initiator-establish-packet-received-entry-has-request-time", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorEstablishPacketReceivedEntryHasRequestTime(SessionConnecting):
    """The initiator sets ConnectionHistoryTime of each entry with Status EstablishPacketReceived to the time of the
    request.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED and len(history) > 1:
            history[-1] = replace(history[-1], ConnectionHistoryTime=history[-2].ConnectionHistoryTime)


@fault(
    "initiator-session-state-waiting-ec-msg-after-establish-request", breaks=("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01")
)
class InitiatorSessionStateWaitingEcMsgAfterEstablishRequest(SessionEstablishing):
    """The initiator sets the state of its session to WAITING_EC_MSG instead of WAITING_ECR_MSG after its
    EstablishConnection request.
    """

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.SessionState = SessionState.WAITING_EC_MSG


@fault("initiator-nonzero-server-guid-in-response-for-direct-name-refused", breaks="MQQB-3.1.5.3.2-D02")
class InitiatorNonzeroServerGuidInResponseForDirectNameRefused(SessionOpening):
    """The initiator of a session for a direct name refuses a response whose ServerGuid is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        valid = super().is_establish_response_valid(session, packet)
        return valid and packet.EstablishConnectionHeader.ServerGuid == session.RemoteQMGuid
