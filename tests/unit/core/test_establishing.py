"""MS-MQQB 3.1.5.2, 3.1.5.2.1, 3.1.5.2.3: establishing a session as initiator.

The responses of the acceptor: MS-MQQB 3.1.5.3.2, 3.1.5.4.2. The timeout of the initialization: MS-MQQB 3.1.6.6.
"""

import pytest
from core_network import BOOTED_MS, EPOCH_S, Network, direct, guid, private
from core_raw import RAW, Raw, establish, parameters

from reference_qm.codec import NULL_GUID, ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.directory.enums import OperatingSystemType
from reference_qm.surface.commands import OpenSession
from reference_qm.surface.effects import CommandCompleted, CommandRejected
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


def test_open_command_for_an_open_session_completes_at_once():
    a, _ = Network().pair()
    a.ask(OpenSession(direct(2)))
    assert a.ask(OpenSession(direct(2))) == {}
    assert len(a.connects) == 1


def test_establish_connection_request_has_the_printed_values(host):
    raw = Raw.acceptor(host)
    (request,) = raw.sent
    assert isinstance(request, EstablishConnectionPacket)
    assert (request.BaseHeader.IN, request.BaseHeader.SH, request.BaseHeader.TimeToReachQueue) == (1, 0, 0xFFFFFFFF)
    assert (request.InternalHeader.PT, request.InternalHeader.CS) == (2, 0)
    header = request.EstablishConnectionHeader
    assert (header.ClientGuid, header.ServerGuid) == (guid(1), NULL_GUID)
    assert header.TimeStamp == BOOTED_MS
    assert (header.RE, header.SE, header.OS, header.QS) == (0x10, 1, 1, 0)
    assert header.Reserved == 0
    assert raw.session["SessionState"] == "WAITING_ECR_MSG"
    assert raw.session["timers"]["SessionInitialization"] == 60_000
    (queue,) = host.adm()["OutgoingQueues"]
    assert queue["State"] == "Waiting"
    assert queue["ConnectionHistory"] == [
        {"Status": "InProcess", "ConnectionHistoryTime": EPOCH_S, "Error": 0, "AddressList": "10.0.0.9"}
    ]


def test_client_system_sets_os_to_0():
    host = Network().host(1, operating_system=OperatingSystemType.WIN_CLIENT)
    assert Raw.acceptor(host).last.EstablishConnectionHeader.OS == 0


def test_request_for_private_format_name_has_its_server_guid(host):
    assert Raw.acceptor(host, private(9)).last.EstablishConnectionHeader.ServerGuid == guid(9)


def test_session_connects_to_the_configured_port():
    host = Network().host(1, remote_tcp_port=11801)
    Raw.acceptor(host)
    assert host.connects[-1].remote == Endpoint("10.0.0.9", 11801)


@pytest.mark.parametrize(("elapsed_ms", "timeout_ms"), [(0, 500), (62, 500), (63, 504), (100, 800), (20_000, 120_000)])
def test_the_recoverable_timeout_is_eight_round_trips_within_its_range(host, elapsed_ms, timeout_ms):
    raw = Raw.acceptor(host)
    host.network.advance(elapsed_ms)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW, TimeStamp=BOOTED_MS))
    assert isinstance(raw.last, ConnectionParametersPacket)
    assert raw.last.ConnectionParametersHeader.RecoverableAckTimeout == timeout_ms
    assert raw.session["RecoverableAckSendTimeout"] == timeout_ms


def test_a_round_trip_is_measured_across_the_wrap_of_the_clock():
    network = Network()
    network.now = type(network.now)(0xFFFFFFFF - 40, EPOCH_S)
    host = network.host(1)
    raw = Raw.acceptor(host)
    network.advance(100)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW, TimeStamp=raw.last.EstablishConnectionHeader.TimeStamp))
    assert raw.session["RecoverableAckSendTimeout"] == 800


def test_connection_parameters_request_follows_establish_connection_response(host):
    raw = Raw.acceptor(host)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW, TimeStamp=BOOTED_MS))
    packet = raw.last
    assert isinstance(packet, ConnectionParametersPacket)
    assert (packet.BaseHeader.IN, packet.InternalHeader.PT, packet.InternalHeader.CS) == (1, 3, 0)
    header = packet.ConnectionParametersHeader
    assert (header.AckTimeout, header.WindowSize, header.Reserved) == (20_000, 64, 0)
    assert raw.session["SessionState"] == "WAITING_CPR_MSG"
    assert raw.session["RemoteQMGuid"] == str(RAW)
    statuses = [entry["Status"] for entry in host.adm()["OutgoingQueues"][0]["ConnectionHistory"]]
    assert statuses == ["InProcess", "EstablishPacketReceived"]


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (establish(cs=1, ClientGuid=guid(1), ServerGuid=RAW), "ConnectionRefused"),
        (establish(ClientGuid=guid(5), ServerGuid=RAW), "UnknownFailure"),
        (establish(ClientGuid=guid(1), ServerGuid=NULL_GUID), "UnknownFailure"),
    ],
)
def test_response_with_wrong_client_guid_or_cs_closes_session(host, response, status):
    raw = Raw.acceptor(host)
    raw.feed(response)
    assert "3.1.5.3.2" in raw.closed
    (queue,) = host.adm()["OutgoingQueues"]
    assert queue["State"] == "Disconnected"
    assert queue["ConnectionHistory"][-1]["Status"] == status
    assert queue["ConnectionHistory"][-1]["Error"] != 0
    (answer,) = [answer for answer in host.answers.values() if isinstance(answer, CommandRejected)]
    assert "3.1.5.3.2" in answer.error


def test_establish_response_of_wrong_server_closes_session(host):
    raw = Raw.acceptor(host, private(9))
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW))
    assert raw.closed is not None


def test_establish_response_of_named_server_continues_handshake(host):
    raw = Raw.acceptor(host, private(9))
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=guid(9)))
    assert raw.closed is None


def test_connection_parameters_that_refuse_the_connection_close_the_session(host):
    raw = Raw.acceptor(host)
    raw.feed(establish(ClientGuid=guid(1), ServerGuid=RAW))
    raw.feed(parameters(cs=1))
    assert raw.closed is not None


def test_host_name_without_address_refuses_the_open_session_command():
    host = Network().host(1)
    host.network.names.clear()
    assert "has no address" in host.refusal(OpenSession("DIRECT=OS:nowhere\\private$\\q"))
    assert host.session()["SessionState"] == "CLOSED"


def test_host_name_is_resolved_again_after_the_last_next_hop_failed():
    a, _ = Network().pair()
    a.network.names["many"] = ("10.0.0.77", "10.0.0.78")
    a.send("DIRECT=OS:many\\private$\\plain")
    a.network.names["many"] = ("10.0.0.79",)
    a.network.advance(10_000)
    assert [connect.remote.host for connect in a.connects] == ["10.0.0.77", "10.0.0.78", "10.0.0.79"]


def test_at_most_sixteen_addresses_of_a_host_name_are_kept():
    host = Network().host(1)
    host.network.names["many"] = tuple(f"10.0.1.{number}" for number in range(200))
    host.send("DIRECT=OS:many\\private$\\plain")
    assert len(host.session()["NextHopCollection"]) == 16


def test_ipv6_addresses_are_formatted_as_such():
    host = Network().host(1)
    host.send("DIRECT=TCP:::1\\private$\\plain")
    assert host.adm()["OutgoingQueues"][0]["NextHops"] == ["IPv6=::1"]


def test_a_session_that_is_not_initialized_in_time_closes(host):
    raw = Raw.acceptor(host)
    host.network.advance(59_999)
    assert raw.closed is None
    host.network.advance(1)
    assert "3.1.6.6" in raw.closed


def test_late_transport_of_a_closed_session_is_closed(host):
    Raw.acceptor(host)
    host.handle(TransportConnected("out-77", Endpoint("10.0.0.9", 1801), Endpoint("10.0.0.1", 1)))
    assert host.closed[-1].transport == "out-77"


def test_second_open_command_waits_for_the_running_connection_attempt(host):
    raw = Raw.acceptor(host)
    second = host.begin(OpenSession(direct(9)))
    assert len(host.connects) == 1
    raw.accept()
    assert isinstance(host.answers[second], CommandCompleted)
