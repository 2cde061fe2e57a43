"""Steps that the checks of the opening of a session share. The core of the peer sends no answers: each check sends the
packets of the peer.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import Expectation, between, fields, holds
from harness.peer.conversation import Conversation, RawConversation
from harness.peer.inbox import establish_response, parameters_response
from harness.peer.peer import PEER_QUEUE, Peer
from harness.peer.raw_ends import RawListener
from harness.sut.sut import Sut
from harness.sut.virtual_driver import HOST_WITH_TWO_ADDRESSES
from suites.mqqb.steps.provoking import make_sut_send_message

OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ff")
"""A GUID that is the identifier of no queue manager."""
PEER_QUEUE_BY_HOST_NAME = f"DIRECT=OS:{HOST_WITH_TWO_ADDRESSES}\\{PEER_QUEUE}"
"""A format name of a queue of the peer. The format name contains a host name with two addresses
(capability two_addresses).
"""
INITIALIZATION_TIMER_MS = 20_000
"""The duration in ms of the Session Initialization Timer in the checks that wait for it (set_timers)."""
LATEST_TIME_OF_EARLY_CLOSE_MS = 20_000
"""A time in ms that is well below the duration of the Session Initialization Timer (60 s, MS-MQQB note <43>), whose
expiry closes a session that is being set up.
"""
SIGNATURE_BYTES = b"LIOR"
"""The bytes of BaseHeader.Signature in a packet."""
RETRY_INTERVAL_MS = 5_000
"""The default duration of the Session Retry Connect Timer in ms (note <45>)."""
CLOCK_TOLERANCE_S = 60
"""The greatest accepted difference between the clocks of the SUT and the harness, in seconds."""


# -- packets of any form -----------------------------------------------------------------------------------------


def await_packet_at_position(conversation: RawConversation, number: int) -> Frame | None:
    """Wait for the packet at the given position among all packets of the SUT; return None if the packet
    does not arrive.
    """
    return conversation.poll_packet(number)


def drop_echoed_packet(sent: Frame, frame: Frame | None) -> Frame | None:
    """Return the frame, or None if the frame is not a packet or equals the packet that the peer sent."""
    return frame if frame is not None and has_packet_signature(frame) and frame.data != sent.data else None


def has_packet_signature(frame: Frame) -> bool:
    """Return whether the bytes of a packet contain the Signature."""
    return frame.data.startswith(SIGNATURE_BYTES, 4)


def require_answer_or_close(connection: RawConversation, answer: Frame | None) -> Frame | RawConversation:
    """Return the answer to a packet, or the connection if the SUT closed it; raise ConformanceFailure if
    the SUT does neither.
    """
    if answer is None and not connection.closed_by_sut:
        raise ConformanceFailure("the SUT neither answered nor closed the connection")
    return answer or connection


def read_in_flag_and_packet_type(frame: Frame | None) -> dict[str, int]:
    """Read IN and PT from bytes that begin with a BaseHeader, even if the packet is malformed; return -1
    for a missing field.
    """
    data = frame.data if frame is not None and has_packet_signature(frame) else b""
    base, internal = (int.from_bytes(data[at : at + 2], "little") if len(data) >= at + 2 else None for at in (2, 18))
    return {"IN": -1 if base is None else base >> 3 & 1, "PT": -1 if internal is None else internal & 0xF}


def await_early_close(peer: Peer, connection: Conversation) -> Conversation:
    """Wait for the SUT to close the connection well before its Session Initialization Timer expires;
    return the connection.

    Raise ConformanceFailure if the SUT closes the connection late and answers a second connection: in this case, the
    expiry of the timer may be the reason.
    """
    if not connection.wait_closed(
        min(peer.sut.response_timeout_ms, peer.sut.duration_ms(LATEST_TIME_OF_EARLY_CLOSE_MS))
    ):
        peer.request_session()  # the answer shows that the SUT has processed all earlier packets
        if connection.closed_by_sut:
            raise ConformanceFailure(
                "the SUT ended the connection too late to determine whether the packet was the reason"
            )
    return connection


# -- the SUT as initiator ----------------------------------------------------------------------------------------


def private_name(guid: UUID) -> str:
    """Return a private format name for a queue of a queue manager."""
    return f"PRIVATE={guid}\\00000001"


def listen_for_connection(peer: Peer, sut: Sut, to: str | None = None) -> RawListener:
    """Let the SUT send a message; return the listener to which the SUT will connect. The peer answers
    the Ping Requests of the SUT.
    """
    listener = peer.listen_without_core()
    make_sut_send_message(peer, sut, to or peer.direct_name())
    return listener


def accept_establish_request(listener: RawListener) -> tuple[RawConversation, Frame]:
    """Return the SUT's next connection, which may be a retry, and the EstablishConnection request on
    this connection.
    """
    sut = listener.peer.sut
    connection = listener.accept(
        sut.response_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    )
    if connection is None:
        raise ConformanceFailure("the SUT opened no connection for its message")
    return connection, connection.expect("EstablishConnection")


def respond_to_request(connection: RawConversation, frame: Frame, **header: Any) -> Frame:
    """Respond to the SUT's request; return its ConnectionParameters."""
    connection.send(establish_response(connection.peer, frame, **header))
    return connection.expect("ConnectionParameters")


def respond_to_parameters(connection: RawConversation, frame: Frame, **header: Any) -> Frame:
    """Respond to the SUT's ConnectionParameters, which opens the session; return the SUT's message."""
    connection.send(parameters_response(frame, **header))
    return connection.expect("UserMessage")


# -- time --------------------------------------------------------------------------------------------------------

CLOSED_ON_TIME_EXPECTATION = holds("the SUT closed the connection when the Session Initialization Timer expired")
CLOSED_EARLY_OUTCOME = "closed early"


def describe_initialization_end(
    sut: Sut, connection: RawConversation, since_ms: int, specified_ms: int = INITIALIZATION_TIMER_MS
) -> bool | str:
    """Wait for the end of a connection whose timer was started at a given instant; return True if the connection ends
    on time, or a description of the measured time otherwise.
    """
    peer = connection.peer
    latest_ms = sut.duration_ms(specified_ms) + sut.slack_ms(specified_ms)
    if not connection.wait_closed(within_ms=max(0, latest_ms - peer.measure_duration(since_ms).ms)):
        return f"still open after {latest_ms} ms"
    took = peer.measure_duration(since_ms, connection.record.closed_at_ms)
    earliest_ms, _ = took.get_allowed_range(sut.duration_ms(specified_ms) * 4 // 5, max(latest_ms, took.ms))
    return took.ms >= earliest_ms or f"{CLOSED_EARLY_OUTCOME}, after {took.ms} ms"


# -- the abstract data model -------------------------------------------------------------------------------------


def find_outgoing_queue(sut: Sut, format_name: str) -> dict[str, Any]:
    """Return the OutgoingQueue with the given DestinationFormatName (MS-MQDMPR 3.1.1.3)."""
    found = list_outgoing_queues(sut, format_name)
    if not found:
        raise ConformanceFailure(f"the SUT shows no OutgoingQueue for {format_name}")
    return found[0]


def list_outgoing_queues(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return every OutgoingQueue with the given DestinationFormatName."""
    return list(sut.control.call("get_outgoing_queue", to=format_name)["outgoing"])


def find_initiated_session(sut: Sut, to: str) -> dict[str, Any]:
    """Return the session that the SUT as initiator opens or has opened for the OutgoingQueue of a format name."""
    found = [one for one in list_sessions_that_are_not_closed(sut) if one["role"] == "initiator"]
    found = [one for one in found if str(one["OutgoingQueueReference"]).lower() == to.lower()]
    return _require_one_session(found, f"as initiator to {to}")


def list_accepted_sessions(sut: Sut) -> list[dict[str, Any]]:
    """Return the sessions that the SUT accepted."""
    return [one for one in list_sessions_that_are_not_closed(sut) if one["role"] == "acceptor"]


def find_accepted_session(sut: Sut, guid: UUID) -> dict[str, Any]:
    """Return the session that the SUT accepted from a queue manager."""
    return _require_one_session(
        [one for one in list_accepted_sessions(sut) if one["RemoteQMGuid"] == format_guid(guid)],
        f"accepted from {guid}",
    )


def _require_one_session(found: list[dict[str, Any]], which: str) -> dict[str, Any]:
    if len(found) != 1:
        raise ConformanceFailure(f"the SUT shows {len(found)} sessions {which} instead of one")
    return found[0]


def list_sessions_that_are_not_closed(sut: Sut) -> list[dict[str, Any]]:
    """Return the sessions that are not closed, with all GUIDs in one spelling."""
    found = [one for one in sut.inspect()["Sessions"] if one["SessionState"] != "CLOSED"]
    return [one | {"RemoteQMGuid": format_guid(one["RemoteQMGuid"])} for one in found]


def is_text_of_ip_address(value: str) -> bool:
    """Return whether a value is the text of an IPv4 or IPv6 address. SPX addresses are not accepted, because Windows XP
    was the last release with SPX.
    """
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def format_guid(guid: UUID | str) -> str:
    """Return a GUID in the spelling that the checks compare."""
    return str(guid).strip("{}").lower()


def list_connection_history(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the ConnectionHistory of the OutgoingQueue for a format name."""
    return list(find_outgoing_queue(sut, format_name)["ConnectionHistory"])


def expect_recent_connection_history_entry(peer: Peer, status: str, *, failed: bool = False) -> Expectation:
    """Return the expected values of a ConnectionHistory entry of the last minute with the peer's address; Error is 0 or
    an error code.
    """
    now_s = peer.environment.now().utc_s
    return fields(
        Status=status,
        ConnectionHistoryTime=between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S),
        Error=between(0x8000_0000, 0xFFFF_FFFF) if failed else 0,
        AddressList=peer.address,
    )


def get_last_connection_history_entry(entries: list[dict[str, Any]]) -> dict[str, Any] | str:
    """Return the last entry of a ConnectionHistory in the form that ``expect_recent_connection_history_entry``
    compares, with an unsigned Error.
    """
    if not entries:
        return "no entry"
    last = entries[-1]
    shown = {name: last[name] for name in ("Status", "ConnectionHistoryTime", "AddressList")}
    return shown | {"Error": last["Error"] & 0xFFFF_FFFF}
