"""MS-MQQB 2.2.3 EstablishConnection Packet, 2.2.3.1 EstablishConnectionHeader."""

from __future__ import annotations

import pytest

from harness.expectations import fields, one_of, packet
from harness.peer.handshake import NULL_GUID, establish_request
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, malforms, needs, sut_survives
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import OTHER_GUID, format_guid, private_name, read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message

RULES_OF_UNUSED_BITS = {
    "X11": "MQQB-2.2.3.1-09",
    "X12": "MQQB-2.2.3.1-10",
    "X13": "MQQB-2.2.3.1-11",
    "X14": "MQQB-2.2.3.1-12",
    "X15": "MQQB-2.2.3.1-13",
}
"""The rule of each unused bit of OperatingSystem."""

RESERVED_FIELD_SLICE = slice(58, 60)

SERVER_CLASS_SYSTEMS = ("WinServer", "WinEnt")
"""The values of QueueManager.OperatingSystemType for server-class systems (MS-MQQB 2.2.7)."""


@covers("MQQB-2.2.3-01", "MQQB-2.2.3-02")
def test_establish_connection_answer_has_in_set_and_pt_2(peer, judge):
    """The SUT answers an EstablishConnection request of the peer with IN set and PT 2."""
    connection = peer.connect()
    sent = connection.send(establish_request(peer))
    reply = connection.poll_packet(0)
    bits = read_in_flag_and_packet_type(reply)
    judge("MQQB-2.2.3-01", expected=1, observed=bits["IN"], case="IN of the answer", evidence=[sent, reply])
    judge("MQQB-2.2.3-02", expected=2, observed=bits["PT"], case="PT of the answer", evidence=[sent, reply])


@covers("MQQB-2.2.3.1-01")
def test_request_for_a_direct_name_has_zero_server_guid(peer, sut, judge):
    """For a message to a direct format name, the SUT requests a session twice; ServerGuid of each request is zero, or
    the QMGuid of a Ping Response.
    """
    session = OutgoingSession(peer, sut)
    for case in ("ServerGuid of the request", "ServerGuid of the next request after a failed attempt"):
        asked = session.await_request()
        pings = peer.recorder.list_pings(from_sut=False)
        ping_guids = {format_guid(frame.packet.QMGuid) for frame in pings}
        judge(
            "MQQB-2.2.3.1-01",
            expected=one_of(format_guid(NULL_GUID), *ping_guids),
            observed=format_guid(asked["EstablishConnectionHeader"].ServerGuid),
            case=case,
            evidence=[*pings, asked],
        )
        session.connection.close()


@needs("send", "private_names")
@covers("MQQB-2.2.3.1-01")
def test_request_for_a_private_name_has_its_server_guid(peer, sut, judge):
    """For a message to a private format name, the SUT requests a session twice, each time with the GUID of that name as
    ServerGuid.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    for case in ("ServerGuid of the request", "ServerGuid of the next request after a failed attempt"):
        asked = session.await_request()
        judge(
            "MQQB-2.2.3.1-01",
            expected=format_guid(peer.identifier),
            observed=format_guid(asked["EstablishConnectionHeader"].ServerGuid),
            case=case,
            evidence=[asked],
        )
        session.connection.close()


@covers("MQQB-2.2.3.1-15")
def test_padding_of_a_response_does_not_depend_on_the_request(peer, judge):
    """The peer sends two EstablishConnection requests with 0xA7 in each byte of Padding, one of them for another queue
    manager. Each byte of Padding in both of the SUT's responses is 0x5A.
    """
    for case, guid in (
        ("response to a request", NULL_GUID),
        ("response to a request for another GUID", OTHER_GUID),
    ):
        connection = peer.connect()
        sent = connection.send(establish_request(peer, ServerGuid=guid, Padding=b"\xa7" * 512))
        reply = connection.poll("EstablishConnection")
        expected = packet("EstablishConnection", {"EstablishConnectionHeader.Padding": b"\x5a" * 512})
        judge("MQQB-2.2.3.1-15", expected=expected, observed=reply or connection, case=case, evidence=[sent, reply])


@covers("MQQB-2.2.3.1-02")
@pytest.mark.parametrize("named", [True, False], ids=["named", "zero"])
def test_establish_connection_response_has_server_guid_of_acceptor(peer, sut, judge, named):
    """While another session exists, the peer sends an EstablishConnection request whose ServerGuid is zero or the SUT's
    GUID. ServerGuid in the SUT's response is the SUT's GUID.
    """
    peer.connect().send(establish_request(peer))
    connection = peer.connect()
    sent = connection.send(establish_request(peer, ServerGuid=sut.guid if named else NULL_GUID))
    reply = connection.poll("EstablishConnection")
    expected = packet("EstablishConnection", {"EstablishConnectionHeader.ServerGuid": sut.guid})
    judge("MQQB-2.2.3.1-02", expected=expected, observed=reply or connection, evidence=[sent, reply])


@covers("MQQB-2.2.3.1-05")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_session_flag_of_a_request_without_ping_is_set(peer, sut, judge, name):
    """While a session of the peer is open, the SUT requests a session twice, for a direct or a private format name. SE
    is 1 without a preceding Ping Request, and 0 or 1 after one (erratum E03).
    """
    peer.open_raw()
    session = OutgoingSession(peer, sut, private_name(peer.identifier) if name == "private" else None)
    known_pings = 0
    for _ in range(2):  # a retry comes without a ping
        asked = session.await_request()
        pings = peer.recorder.list_pings(from_sut=True)[known_pings:]
        expected = fields({"EstablishConnectionHeader.SE": one_of(0, 1) if pings else 1})
        judge("MQQB-2.2.3.1-05", expected=expected, observed=asked, evidence=[*pings, asked])
        known_pings += len(pings)
        session.connection.close()


@covers("MQQB-2.2.3.1-06")
@pytest.mark.parametrize("flag", [0, 1])
def test_establish_connection_response_repeats_session_flag(peer, judge, flag):
    """The SUT repeats SE of an EstablishConnection request in its response."""
    connection = peer.connect()
    sent = connection.send(establish_request(peer, SE=flag))
    reply = connection.poll("EstablishConnection")
    expected = packet("EstablishConnection", {"EstablishConnectionHeader.SE": flag})
    judge("MQQB-2.2.3.1-06", expected=expected, observed=reply or connection, evidence=[sent, reply])


@needs("operating_system")
@covers("MQQB-2.2.3.1-07")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_operating_system_flag_of_a_request_shows_server_class(peer, sut, judge, name):
    """While a session of the peer is open, the SUT sends EstablishConnection requests. OS is 1 if the SUT's
    OperatingSystemType is server-class, and 0 otherwise.

    RC in a Ping Request does not show the type of a system: a real Windows system sent a Ping Request with RC set and
    then an EstablishConnection request with OS set (MS-MQQB 4.1.1, 4.1.3).
    """
    peer.open_raw()
    session = OutgoingSession(peer, sut, private_name(peer.identifier) if name == "private" else None)
    kind = sut.operating_system_type
    expected = fields({"EstablishConnectionHeader.OS": int(kind in SERVER_CLASS_SYSTEMS)})
    for _ in range(2):
        asked, case = session.await_request(), f"request of a SUT of type {kind}"
        judge("MQQB-2.2.3.1-07", expected=expected, observed=asked, case=case, evidence=[asked])
        session.connection.close()


@sut_survives()
@covers(*RULES_OF_UNUSED_BITS.values())
def test_unused_bit_of_operating_system_is_ignored(peer, judge):
    """The peer opens a session with one unused bit of OperatingSystem set, and sends a message. The SUT answers every
    packet.
    """
    for bit, rule in RULES_OF_UNUSED_BITS.items():
        exchange = exchange_message(peer, establish={bit: 1})
        judge(rule, expected=exchange.ALL_ANSWERED_EXPECTATION, observed=exchange.outcome, evidence=exchange.evidence)


@malforms("MQQB-3.1.5.2.3-12")
@sut_survives()
@covers("MQQB-2.2.3.1-14")
def test_reserved_of_establish_connection_is_sent_as_zero_and_ignored(peer, judge):
    """The SUT ignores EstablishConnectionHeader.Reserved 0xBEEF in the peer's packet, and sends 0 in Reserved."""
    exchange = exchange_message(peer, establish={"Reserved": 0xBEEF})
    judge(
        "MQQB-2.2.3.1-14",
        expected=exchange.ALL_ANSWERED_EXPECTATION,
        observed=exchange.outcome,
        evidence=exchange.evidence,
    )
    reply = exchange.answered("EstablishConnection")
    observed = "nothing" if reply is None else int.from_bytes(reply.data[RESERVED_FIELD_SLICE], "little")
    judge("MQQB-2.2.3.1-14", expected=0, observed=observed, case="Reserved in the answer", evidence=[reply])


@malforms("MQQB-3.1.5.3.1-12")
@sut_survives()
@covers(*RULES_OF_UNUSED_BITS.values(), "MQQB-2.2.3.1-14")
def test_unused_bits_and_reserved_of_a_response_are_ignored(peer, sut, judge):
    """On each of six sessions, the peer sends an EstablishConnection response with Reserved or one unused bit set. The
    SUT opens each session and sends its message.
    """
    listener = peer.listen_without_core()
    for field, rule in (RULES_OF_UNUSED_BITS | {"Reserved": "MQQB-2.2.3.1-14"}).items():
        make_sut_send_message(peer, sut, peer.direct_name())
        session = OutgoingSession(peer, sut, listener=listener)
        asked = session.await_request()
        sent = session.connection.send(
            establish_response(peer, asked, **{field: 1 if field in RULES_OF_UNUSED_BITS else 0xFFFF})
        )
        answer = session.connection.poll("ConnectionParameters")
        came = None
        if answer is not None:
            session.connection.send(parameters_response(answer))
            came = session.connection.poll("UserMessage")
            session.connection.acknowledge_all()
            session.connection.close()
        judge(rule, expected=packet("UserMessage"), observed=came or session.connection, evidence=[sent, answer, came])
        if came is None:  # the SUT tries again
            session.open()
            session.connection.acknowledge_all()
            session.connection.close()
