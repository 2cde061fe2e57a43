"""MS-MQQB 3.1.5.2, 3.1.5.2.1, 3.1.5.2.3: establishing a session as initiator.

The responses to it: MS-MQQB 3.1.5.3.2, 3.1.5.4.2. Its end in time: MS-MQQB 3.1.6.6.
"""

import pytest
from core_network import EPOCH_S, Network, direct, guid
from core_raw import RAW, Raw, establish, parameters

from reference_qm.surface.commands import OpenSession
from reference_qm.surface.inputs import Endpoint, TransportConnected


@pytest.fixture
def host():
    return Network().host(1, routes={guid(9): "10.0.0.9"})


def test_a_session_opens_between_two_cores():
    a, b = Network().pair()
    a.ask(OpenSession(direct(2)))
    assert a.session()["SessionState"] == b.session()["SessionState"] == "OPEN"
    assert a.session()["RemoteQMGuid"] == str(guid(2))
    assert b.session()["RemoteQMGuid"] == str(guid(1))
    kinds = [type(packet).__name__ for packet in a.packets()]
    assert kinds == ["EstablishConnectionPacket", "ConnectionParametersPacket"]
    assert [type(packet).__name__ for packet in b.packets()] == kinds


def test_opening_an_open_session_again_is_done_at_once():
    a, _ = Network().pair()
    a.ask(OpenSession(direct(2)))
    assert a.ask(OpenSession(direct(2))) == {}
    assert len(a.connects) == 1


def test_a_round_trip_is_measured_across_the_wrap_of_the_clock():
    network = Network()
    network.now = type(network.now)(0xFFFFFFFF - 40, EPOCH_S)
    host = network.host(1)
    raw = Raw.acceptor(host)
    network.advance(100)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW, TimeStamp=raw.last.EstablishConnectionHeader.TimeStamp))
    assert raw.session["RecoverableAckSendTimeout"] == 800


def test_parameters_that_refuse_the_connection_close_the_session(host):
    raw = Raw.acceptor(host)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW))
    raw.feed(parameters(cs=1))
    assert raw.closed is not None


def test_no_more_than_sixteen_addresses_are_kept():
    host = Network().host(1)
    host.network.names["many"] = tuple(f"10.0.1.{number}" for number in range(200))
    host.send("DIRECT=OS:many\\private$\\plain")
    assert len(host.session()["NextHopCollection"]) == 16


def test_a_transport_of_a_session_that_was_closed_is_closed(host):
    Raw.acceptor(host)
    host.handle(TransportConnected("out-77", Endpoint("10.0.0.9", 1801), Endpoint("10.0.0.1", 1)))
    assert host.closed[-1].transport == "out-77"
