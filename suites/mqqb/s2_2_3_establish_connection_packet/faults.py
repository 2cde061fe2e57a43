"""Faults that break rules of MS-MQQB 2.2.3 EstablishConnection Packet and of 2.2.3.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import (
    add_to_field,
    clear_bits,
    invert_bits,
    limit_to_sender_role,
    register_refusal_faults,
    set_field_value,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, send_wrong_bytes, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import NULL_GUID, EstablishConnectionHeader, EstablishConnectionPacket
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

ESTABLISH_PACKET_CLASS = EstablishConnectionPacket


def _set_server_guid_to_client_guid(packet: EstablishConnectionPacket) -> bytes:
    client = packet.EstablishConnectionHeader.ClientGuid
    data: bytes = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": client}).build()
    return data


for _name, _rules, _says, _install in (
    (
        "any-establish-connection-in-bit-clear",
        ("MQQB-2.2.3-01", "MQMQ-2.2.19.1-05"),
        "A queue manager sends an EstablishConnection packet with IN clear.",
        clear_bits(ESTABLISH_PACKET_CLASS, "BaseHeader.IN"),
    ),
    (
        "any-establish-connection-pt-3",
        ("MQQB-2.2.3-02",),
        "A queue manager sends an EstablishConnection packet with PT 3.",
        set_field_value(ESTABLISH_PACKET_CLASS, "InternalHeader.PT", 3),
    ),
    (
        "initiator-establish-connection-server-guid-set-to-own-guid",
        ("MQQB-2.2.3.1-01",),
        "The initiator's EstablishConnection request has the initiator's own GUID as ServerGuid.",
        limit_to_sender_role(
            "initiator", change_packets_of_kind(ESTABLISH_PACKET_CLASS, _set_server_guid_to_client_guid)
        ),
    ),
    (
        "acceptor-establish-connection-server-guid-of-initiator",
        ("MQQB-2.2.3.1-02",),
        "The acceptor's EstablishConnection response has the initiator's GUID as ServerGuid.",
        limit_to_sender_role(
            "acceptor", change_packets_of_kind(ESTABLISH_PACKET_CLASS, _set_server_guid_to_client_guid)
        ),
    ),
    (
        "any-establish-connection-re-0x11",
        ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
        "A queue manager sends an EstablishConnection packet with RE 0x11.",
        add_to_field(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.RE", 1),
    ),
    (
        "initiator-establish-connection-se-clear-without-ping",
        ("MQQB-2.2.3.1-05",),
        "The initiator's EstablishConnection request has SE 0 although it sent no Ping Request.",
        limit_to_sender_role("initiator", clear_bits(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.SE")),
    ),
    (
        "acceptor-establish-connection-se-inverted",
        ("MQQB-2.2.3.1-06",),
        "The acceptor's EstablishConnection response inverts the SE of the request.",
        limit_to_sender_role("acceptor", invert_bits(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.SE")),
    ),
    (
        "initiator-establish-connection-os-inverted",
        ("MQQB-2.2.3.1-07",),
        "The initiator's EstablishConnection request has OS inverted.",
        limit_to_sender_role("initiator", invert_bits(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.OS")),
    ),
    (
        "any-establish-connection-reserved-not-zero",
        ("MQQB-2.2.3.1-14",),
        "A queue manager sends an EstablishConnection packet with EstablishConnectionHeader.Reserved 0xBEEF.",
        set_field_value(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.Reserved", 0xBEEF),
    ),
    (
        "acceptor-establish-connection-padding-zero",
        ("MQQB-2.2.3.1-15", "MQQB-3.1.5.3.1-12"),
        "The acceptor's EstablishConnection response has zeros in Padding.",
        limit_to_sender_role(
            "acceptor", set_field_value(ESTABLISH_PACKET_CLASS, "EstablishConnectionHeader.Padding", bytes(512))
        ),
    ),
    (
        "any-establish-connection-4-bytes-too-long",
        ("MQQB-2.2.3-D01",),
        "A queue manager sends an EstablishConnection packet with 4 bytes after its EstablishConnectionHeader.",
        send_wrong_bytes(ESTABLISH_PACKET_CLASS, lambda data: correct_packet_size(data + bytes(4))),
    ),
    (
        "any-establish-connection-padding-missing",
        ("MQQB-2.2.3.1-D01",),
        "A queue manager sends an EstablishConnection packet without its 512 bytes of Padding.",
        send_wrong_bytes(ESTABLISH_PACKET_CLASS, lambda data: correct_packet_size(data[:-512])),
    ),
):
    add(_name, _rules, _says, _install)


def _change_establish_header(packet: EstablishConnectionPacket, **values: object) -> EstablishConnectionPacket:
    return replace(packet, EstablishConnectionHeader=replace(packet.EstablishConnectionHeader, **values))  # type: ignore[arg-type]


@fault("initiator-establish-request-zero-server-guid-on-retry", breaks="MQQB-2.2.3.1-01")
class InitiatorEstablishRequestZeroServerGuidOnRetry(SessionEstablishing):
    """The initiator sends a zero ServerGuid for a private format name when it connects again after a failure."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        return _change_establish_header(request, ServerGuid=NULL_GUID) if session.is_retrying_connection else request


@fault("initiator-own-guid-as-server-guid-in-later-direct-request", breaks="MQQB-2.2.3.1-01")
class InitiatorOwnGuidAsServerGuidInLaterDirectRequest(SessionEstablishing):
    """The initiator sends its own GUID as ServerGuid of a request for a direct format name after the first session to
    the destination has been closed.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        again = session.is_destination_direct and session.is_retrying_connection
        return _change_establish_header(request, ServerGuid=self.qm.adm.Identifier) if again else request


ESTABLISH_HEADER_NAME = "EstablishConnectionHeader"


@fault("acceptor-zero-server-guid-repeated-on-second-connection", breaks="MQQB-2.2.3.1-02", blind=True)
class AcceptorZeroServerGuidRepeatedOnSecondConnection(SessionOpening):
    """On a second connection, the acceptor repeats the ServerGuid of the request in its response, even if this
    ServerGuid is zero.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if sum(not one.initiator for one in self.qm.sessions.values()) < 2:
            return packet
        return set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.ServerGuid": request.EstablishConnectionHeader.ServerGuid})


@fault("acceptor-establish-response-zero-server-guid-repeated", breaks="MQQB-2.2.3.1-02")
class AcceptorEstablishResponseZeroServerGuidRepeated(SessionOpening):
    """The acceptor repeats a zero ServerGuid of the request in its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        return _change_establish_header(response, ServerGuid=request.EstablishConnectionHeader.ServerGuid)


add(
    "acceptor-establish-response-re-0",
    "MQQB-2.2.3.1-04",
    "The acceptor sends RE 0 in a response that refuses the request.",
    limit_to_sender_role(
        "acceptor",
        set_field_value(
            EstablishConnectionPacket, "EstablishConnectionHeader.RE", 0, lambda packet: packet.InternalHeader.CS
        ),
    ),
)


@fault("initiator-establish-request-se-clear-on-retry-without-ping", breaks="MQQB-2.2.3.1-05")
class InitiatorEstablishRequestSeClearOnRetryWithoutPing(SessionEstablishing):
    """The initiator clears SE in a request without a Ping Request if it sent a Ping Request before an earlier attempt
    to open the session.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        system = request.EstablishConnectionHeader.OperatingSystem
        clear = session.is_retrying_connection and self.qm.config.send_ping
        return (
            _change_establish_header(request, OperatingSystem=system & ~EstablishConnectionHeader.flags(SE=1))
            if clear
            else request
        )


@fault("acceptor-establish-response-se-copied-from-os-of-request", breaks="MQQB-2.2.3.1-06")
class AcceptorEstablishResponseSeCopiedFromOsOfRequest(SessionOpening):
    """The acceptor sends the OS flag of the request as SE of its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        rest = response.EstablishConnectionHeader.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        system = rest | EstablishConnectionHeader.flags(SE=request.EstablishConnectionHeader.OS)
        return _change_establish_header(response, OperatingSystem=system)


@fault("acceptor-refusing-establish-response-se-clear", breaks=("MQQB-2.2.3.1-06", "MQQB-3.1.5.3.1-11"))
class AcceptorRefusingEstablishResponseSeClear(SessionOpening):
    """The acceptor clears SE in a response that refuses the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        rest = response.EstablishConnectionHeader.OperatingSystem & ~EstablishConnectionHeader.flags(SE=1)
        return _change_establish_header(response, OperatingSystem=rest) if session.was_session_refused else response


@fault("initiator-os-flag-of-retry-inverted", breaks="MQQB-2.2.3.1-07", blind=True)
class InitiatorOsFlagOfRetryInverted(SessionEstablishing):
    """The initiator inverts the flag OS in its EstablishConnection request when it connects again after a failure."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        return (
            set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.OperatingSystem": lambda old: old ^ 0x200})
            if session.is_retrying_connection
            else packet
        )


register_refusal_faults(
    ESTABLISH_PACKET_CLASS,
    ("receiver-establish-connection-x11-refused", "MQQB-2.2.3.1-09", "EstablishConnectionHeader.X11"),
    ("receiver-establish-connection-x12-refused", "MQQB-2.2.3.1-10", "EstablishConnectionHeader.X12"),
    ("receiver-establish-connection-x13-refused", "MQQB-2.2.3.1-11", "EstablishConnectionHeader.X13"),
    ("receiver-establish-connection-x14-refused", "MQQB-2.2.3.1-12", "EstablishConnectionHeader.X14"),
    ("receiver-establish-connection-x15-refused", "MQQB-2.2.3.1-13", "EstablishConnectionHeader.X15"),
    ("receiver-establish-connection-reserved-refused", "MQQB-2.2.3.1-14", "EstablishConnectionHeader.Reserved"),
)


def _refuse_response_with_bits(mask: int) -> type[SessionOpening]:
    class FlaggedResponseRefused(SessionOpening):
        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            bits = packet.EstablishConnectionHeader.OperatingSystem & mask
            return super().is_establish_response_valid(session, packet) and not bits

    return FlaggedResponseRefused


def _refuse_request(mask: int) -> type[SessionOpening]:
    class FlaggedRequestRefused(SessionOpening):
        def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
            bits = packet.EstablishConnectionHeader.OperatingSystem & mask
            return super().is_establish_request_valid(packet) and not bits

    return FlaggedRequestRefused


_RULES_OF_UNUSED_BITS = ("MQQB-2.2.3.1-09", "MQQB-2.2.3.1-10", "MQQB-2.2.3.1-11", "MQQB-2.2.3.1-12", "MQQB-2.2.3.1-13")


for bit, rule in enumerate(_RULES_OF_UNUSED_BITS, 11):
    if bit % 2:
        add(
            f"initiator-establish-response-with-os-bit-x{bit}-refused",
            rule,
            f"The initiator closes the session after a response with X{bit} set in OperatingSystem.",
            replace_part(_refuse_response_with_bits(1 << bit)),
            blind=True,
        )
    else:
        add(
            f"acceptor-establish-request-with-os-bit-x{bit}-refused",
            rule,
            f"The acceptor sets CS in the response to a request with X{bit} set in OperatingSystem.",
            replace_part(_refuse_request(1 << bit)),
            blind=True,
        )


RULE_BY_UNUSED_BIT = {
    "X11": "MQQB-2.2.3.1-09",
    "X12": "MQQB-2.2.3.1-10",
    "X13": "MQQB-2.2.3.1-11",
    "X14": "MQQB-2.2.3.1-12",
    "X15": "MQQB-2.2.3.1-13",
}


def _add_fault_refusing_response_bit(bit: str, rule: str) -> None:
    mask = EstablishConnectionHeader.flags(**{bit: 1})

    @fault(f"initiator-establish-response-{bit.lower()}-refused", breaks=rule)
    class FlaggedResponseRefused(SessionOpening):
        __doc__ = f"The initiator refuses an EstablishConnection response in which {bit} is set."

        def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
            system = packet.EstablishConnectionHeader.OperatingSystem
            return not system & mask and super().is_establish_response_valid(session, packet)


for _bit, _rule in RULE_BY_UNUSED_BIT.items():
    _add_fault_refusing_response_bit(_bit, _rule)


@fault("initiator-establish-connection-response-x14-set-refused", breaks="MQQB-2.2.3.1-12", blind=True)
class InitiatorEstablishConnectionResponseX14SetRefused(SessionOpening):
    """The initiator refuses an EstablishConnection response in which the unused bit X14 is set."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.EstablishConnectionHeader.X14


@fault("acceptor-establish-connection-reserved-copied-from-request", breaks="MQQB-2.2.3.1-14", blind=True)
class AcceptorEstablishConnectionReservedCopiedFromRequest(SessionOpening):
    """The acceptor copies Reserved of an EstablishConnection request to its response instead of sending zero."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        reserved = request.EstablishConnectionHeader.Reserved
        return set_fields(response, {"EstablishConnectionHeader.Reserved": reserved})


@fault("initiator-establish-response-with-reserved-0xffff-refused", breaks="MQQB-2.2.3.1-14", blind=True)
class InitiatorEstablishResponseWithReserved0xffffRefused(SessionOpening):
    """The initiator closes the session after a response whose Reserved is 0xFFFF."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        reserved = packet.EstablishConnectionHeader.Reserved
        return super().is_establish_response_valid(session, packet) and reserved != 0xFFFF


@fault("acceptor-establish-response-reserved-of-request-repeated", breaks="MQQB-2.2.3.1-14")
class AcceptorEstablishResponseReservedOfRequestRepeated(SessionOpening):
    """The acceptor repeats Reserved of the EstablishConnection request in its response."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        return _change_establish_header(response, Reserved=request.EstablishConnectionHeader.Reserved)


@fault("initiator-refuses-establish-response-with-nonzero-reserved", breaks="MQQB-2.2.3.1-14")
class InitiatorRefusesEstablishResponseWithNonzeroReserved(SessionOpening):
    """The initiator refuses an EstablishConnection response whose Reserved is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        reserved = packet.EstablishConnectionHeader.Reserved
        return not reserved and super().is_establish_response_valid(session, packet)


@fault("acceptor-padding-of-refusing-response-zero", breaks="MQQB-2.2.3.1-15", blind=True)
class AcceptorPaddingOfRefusingResponseZero(SessionOpening):
    """The acceptor fills Padding with zero bytes in a response with CS set."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        return (
            set_fields(packet, {f"{ESTABLISH_HEADER_NAME}.Padding": bytes(512)})
            if session.was_session_refused
            else packet
        )


@fault("acceptor-refusing-response-repeats-padding-of-request", breaks="MQQB-2.2.3.1-15")
class AcceptorRefusingResponseRepeatsPaddingOfRequest(SessionOpening):
    """The acceptor repeats Padding of the request in a response that refuses the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        padding = request.EstablishConnectionHeader.Padding
        return _change_establish_header(response, Padding=padding) if session.was_session_refused else response


@fault("acceptor-establish-response-repeats-padding-of-request", breaks=("MQQB-2.2.3.1-15", "MQQB-3.1.5.3.1-12"))
class AcceptorEstablishResponseRepeatsPaddingOfRequest(SessionOpening):
    """The acceptor repeats Padding of the request in a response that accepts the request."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        padding = request.EstablishConnectionHeader.Padding
        return response if session.was_session_refused else _change_establish_header(response, Padding=padding)
