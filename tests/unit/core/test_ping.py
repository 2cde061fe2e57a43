"""MS-MQQB 2.1.2, 2.2.7, 3.1.5.2.2, 3.1.6.8, 3.1.7.6 to 3.1.7.9: sending and answering pings."""

import pytest
from core_network import Network, direct, guid
from core_raw import Raw

from reference_qm.codec import PingPacket, parse_ping
from reference_qm.directory.enums import OperatingSystemType
from reference_qm.surface.commands import OpenSession
from reference_qm.surface.inputs import DatagramReceived, Endpoint, PingSocket

ASKER = Endpoint("10.0.0.50", 4057)


def ask(host, data):
    before = len(host.pings)
    host.handle(DatagramReceived(PingSocket.LISTENER, ASKER, data))
    return host.pings[before:]


@pytest.mark.parametrize("flags", [0x0000, 0x0001, 0xFFFD, 0xFFFF])
def test_ping_request_is_answered_to_its_sender(flags):
    host = Network().host(1)
    ((socket, remote, data),) = ask(host, PingPacket(Flags=flags, Cookie=0xCAFE, QMGuid=guid(5)).build())
    response = parse_ping(data)
    assert (socket, remote) == (PingSocket.LISTENER, ASKER)
    assert (response.Cookie, response.QMGuid, response.RC, response.RF) == (0xCAFE, guid(1), flags & 1, 0)


def test_ping_response_has_rf_set_when_session_would_be_refused():
    host = Network().host(1, max_sessions=1)
    Raw.open(host)
    assert parse_ping(ask(host, PingPacket().build())[0][2]).RF == 1


def test_session_start_sends_a_ping_when_configured():
    a, b = Network().pair(send_ping=True, operating_system=OperatingSystemType.WIN_CLIENT)
    a.send(direct(2), b"pinged")
    (request,) = a.sent_pings()
    assert (request.RC, request.RF, request.Cookie, request.QMGuid) == (1, 0, 1, guid(1))
    assert a.pings[0][:2] == (PingSocket.SOURCE, Endpoint("10.0.0.2", 3527))
    assert b.bodies() == ["pinged"]
    assert a.packets()[0].EstablishConnectionHeader.SE == 0
    assert b.packets()[0].EstablishConnectionHeader.SE == 0
    assert a.adm()["QueueManager"]["PingCookie"] == 1


def test_ping_request_of_a_server_system_has_rc_clear():
    a, _ = Network().pair(send_ping=True)
    a.send(direct(2))
    assert a.sent_pings()[0].RC == 0


def test_ping_response_with_rf_set_fails_the_open_session_command():
    a, b = Network().pair(send_ping=True, max_sessions=0)
    assert "3.1.7.6" in a.refusal(OpenSession(direct(2)))
    assert a.connects == []
    assert b.sent_pings()[0].RF == 1


@pytest.mark.parametrize("cookie", [0, 2, 0xFFFFFFFF])
def test_core_ignores_ping_response_with_wrong_cookie(cookie):
    a, b = Network().pair(send_ping=True)
    b.listens_for_pings = False
    a.send(direct(2))
    response = PingPacket(Cookie=cookie, QMGuid=guid(2)).build()
    a.handle(DatagramReceived(PingSocket.SOURCE, Endpoint("10.0.0.2", 3527), response))
    assert a.connects == []
    right = PingPacket(Cookie=1, QMGuid=guid(2), Flags=0xFFFD).build()
    a.handle(DatagramReceived(PingSocket.SOURCE, Endpoint("10.0.0.2", 3527), right))
    assert len(a.connects) == 1


def test_unsolicited_ping_response_is_ignored():
    a, _ = Network().pair(send_ping=True)
    a.send(direct(2))
    response = PingPacket(Cookie=1, QMGuid=guid(2)).build()
    a.handle(DatagramReceived(PingSocket.SOURCE, Endpoint("10.0.0.2", 3527), response))
    assert len(a.connects) == 1


def test_ping_requests_of_one_host_have_different_cookies():
    a, _ = Network().pair(send_ping=True)
    a.send(direct(2))
    a.send("DIRECT=TCP:10.0.0.2\\private$\\other")
    assert [request.Cookie for request in a.sent_pings()] == [1, 2]
