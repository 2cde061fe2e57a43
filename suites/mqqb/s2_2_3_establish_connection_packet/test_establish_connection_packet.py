"""MS-MQQB 2.2.3 EstablishConnection Packet, 2.2.3.1 EstablishConnectionHeader."""

from __future__ import annotations

import pytest

from harness.expectations import fields, one_of, packet
from harness.peer.handshake import NULL_GUID, request
from harness.run.marks import covers, malforms, needs, sut_survives
from suites.mqqb.steps.exchanges import ORDINARY, exchange
from suites.mqqb.steps.opening import accepted, called, internal_bits, listen, packet_at, private_name, text

UNUSED_BITS = {
    "X11": "MQQB-2.2.3.1-09",
    "X12": "MQQB-2.2.3.1-10",
    "X13": "MQQB-2.2.3.1-11",
    "X14": "MQQB-2.2.3.1-12",
    "X15": "MQQB-2.2.3.1-13",
}
"""Rules, by unused bit of OperatingSystem."""

RESERVED = slice(58, 60)

SERVERS = ("WinServer", "WinEnt")
"""Values of QueueManager.OperatingSystemType that are server-class (MS-MQQB 2.2.7)."""


@covers("MQQB-2.2.3-01", "MQQB-2.2.3-02")
def test_an_establish_connection_is_internal_and_of_its_type(peer, judge):
    """The answer to the request of an initiator has IN set and PT 2."""
    connection = peer.connect()
    sent = connection.send(request(peer))
    reply = packet_at(connection, 0)
    bits = internal_bits(reply)
    judge("MQQB-2.2.3-01", expected=1, observed=bits["IN"], evidence=[sent, reply])
    judge("MQQB-2.2.3-02", expected=2, observed=bits["PT"], evidence=[sent, reply])


@covers("MQQB-2.2.3.1-01")
def test_a_request_for_a_direct_name_has_no_server_guid(peer, sut, judge):
    """The session for a message to a direct format name is requested with a zero ServerGuid, or that of a ping."""
    _, asked = called(peer, sut)
    pings = peer.recorder.pings(from_sut=False)
    named = {text(frame.packet.QMGuid) for frame in pings}
    observed = text(asked["EstablishConnectionHeader"].ServerGuid)
    judge("MQQB-2.2.3.1-01", expected=one_of(text(NULL_GUID), *named), observed=observed, evidence=[*pings, asked])


@needs("send", "private_names")
@covers("MQQB-2.2.3.1-01")
def test_a_request_for_a_private_name_has_the_server_guid(peer, sut, judge):
    """The session for a message to a private format name is requested of that queue manager."""
    _, asked = called(peer, sut, private_name(peer.identifier))
    observed = text(asked["EstablishConnectionHeader"].ServerGuid)
    judge("MQQB-2.2.3.1-01", expected=text(peer.identifier), observed=observed, evidence=[asked])


@covers("MQQB-2.2.3.1-02")
@pytest.mark.parametrize("named", [True, False], ids=["named", "zero"])
def test_a_response_has_the_server_guid(peer, sut, judge, named):
    """A response has the acceptor's GUID, whether the request named it or left it zero."""
    connection = peer.connect()
    sent = connection.send(request(peer, ServerGuid=sut.guid if named else NULL_GUID))
    reply = connection.poll("EstablishConnection")
    expected = packet("EstablishConnection", {"EstablishConnectionHeader.ServerGuid": sut.guid})
    judge("MQQB-2.2.3.1-02", expected=expected, observed=reply or connection, evidence=[sent, reply])


@covers("MQQB-2.2.3.1-05")
def test_the_session_flag_tells_of_a_ping(peer, sut, judge):
    """SE is 1 in every request before which no Ping Request came; after one, the text wants 0 and Windows sends 1."""
    listener = listen(peer, sut)
    seen = 0
    for _ in range(2):  # a retry comes without a ping
        connection, asked = accepted(listener)
        pings = peer.recorder.pings(from_sut=True)[seen:]
        expected = fields({"EstablishConnectionHeader.SE": one_of(0, 1) if pings else 1})
        judge("MQQB-2.2.3.1-05", expected=expected, observed=asked, evidence=[*pings, asked])
        seen += len(pings)
        connection.close()


@covers("MQQB-2.2.3.1-06")
@pytest.mark.parametrize("flag", [0, 1])
def test_a_response_repeats_the_session_flag(peer, judge, flag):
    """SE of the response is SE of the request."""
    connection = peer.connect()
    sent = connection.send(request(peer, SE=flag))
    reply = connection.poll("EstablishConnection")
    expected = packet("EstablishConnection", {"EstablishConnectionHeader.SE": flag})
    judge("MQQB-2.2.3.1-06", expected=expected, observed=reply or connection, evidence=[sent, reply])


@needs("inspect")
@covers("MQQB-2.2.3.1-07")
def test_operating_system_is_the_one_of_the_queue_manager(peer, sut, judge):
    """OS is set in the request of a SUT on a server-class system and clear else; RC of pings says nothing of it.

    Real Windows pinged with RC set and requested with OS set (MS-MQQB 4.1.1, 4.1.3).
    """
    _, asked = called(peer, sut)
    kind = sut.inspect()["QueueManager"]["OperatingSystemType"]
    expected = fields({"EstablishConnectionHeader.OS": int(kind in SERVERS)})
    judge("MQQB-2.2.3.1-07", expected=expected, observed=asked, case=kind, evidence=[asked])


@sut_survives()
@covers(*UNUSED_BITS.values())
def test_unused_bits_are_ignored(peer, judge):
    """An exchange in which one unused bit of OperatingSystem is set goes as any other."""
    for bit, rule in UNUSED_BITS.items():
        done = exchange(peer, establish={bit: 1})
        judge(rule, expected=ORDINARY, observed=done.outcome, evidence=done.evidence)


@malforms("MQQB-3.1.5.2.3-12")
@sut_survives()
@covers("MQQB-2.2.3.1-14")
def test_reserved_is_zero_and_ignored(peer, judge):
    """Reserved is sent as zero, and a peer's Reserved makes no difference."""
    done = exchange(peer, establish={"Reserved": 0xBEEF})
    judge("MQQB-2.2.3.1-14", expected=ORDINARY, observed=done.outcome, evidence=done.evidence)
    reply = done.answered("EstablishConnection")
    observed = "nothing" if reply is None else int.from_bytes(reply.data[RESERVED], "little")
    judge("MQQB-2.2.3.1-14", expected=0, observed=observed, evidence=[reply])
