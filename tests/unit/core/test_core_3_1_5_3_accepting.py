"""MS-MQQB 3.1.5.10, 3.1.5.3, 3.1.5.3.1, 3.1.5.4, 3.1.5.4.1: accepting a session."""

import pytest
from core_network import Network, guid
from core_raw import NULL_GUID, RAW, Raw, establish, parameters, user_message

from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket


@pytest.fixture
def host():
    return Network().host(1)


def test_an_accepted_connection_waits_for_a_request(host):
    raw = Raw.initiator(host)
    assert raw.session["SessionState"] == "WAITING_EC_MSG"
    assert raw.session["role"] == "acceptor"
    assert raw.session["timers"]["SessionInitialization"] == 60_000
    assert raw.session["timers"]["SessionCleanup"] == 300_000


def test_session_elements_begin_as_printed(host):
    session = Raw.initiator(host).session
    for name in (
        "MessageSentCount",
        "RecoverableMessageSentCount",
        "MessageReceivedCount",
        "RecoverableMessageReceivedCount",
        "RecoverableMsgAckFlags",
        "LastAckedRecoverableMsgSeqNumber",
        "UnackedReceivedMsgCount",
        "UnAckedMessageCount",
    ):
        assert session[name] == 0, name
    assert (session["WindowSize"], session["AckWaitTimeout"], session["OrderAckTimeout"]) == (64, 20_000, 500)
    assert (session["SessionActive"], session["ReceivedAck"], session["DirectFormatSession"]) == (False,) * 3
    assert session["RecoverableAckSendTimeout"] == 0xFFFFFFFF
    assert session["TxOutgoingSequence"]["ResendInterval"] == 30
    running = {name for name, due in session["timers"].items() if due is not None}
    assert running == {"SessionInitialization", "SessionCleanup"}


@pytest.mark.parametrize("server", [NULL_GUID, guid(1)])
def test_a_request_for_this_queue_manager_is_accepted(host, server):
    raw = Raw.initiator(host)
    raw.feed(establish(ServerGuid=server, OperatingSystem=0x0010, TimeStamp=0xDEADBEEF))
    response = raw.last
    assert isinstance(response, EstablishConnectionPacket)
    assert (response.BaseHeader.IN, response.InternalHeader.PT, response.InternalHeader.CS) == (1, 2, 0)
    header = response.EstablishConnectionHeader
    assert (header.ClientGuid, header.ServerGuid, header.TimeStamp) == (RAW, guid(1), 0xDEADBEEF)
    assert (header.RE, header.SE, header.Padding, header.Reserved) == (0x10, 0, b"\x5a" * 512, 0)
    assert raw.session["SessionState"] == "WAITING_CP_MSG"
    assert raw.session["RemoteQMGuid"] == str(RAW)


def test_the_session_flag_comes_back_as_it_was_sent(host):
    raw = Raw.initiator(host)
    raw.feed(establish(OperatingSystem=0x0110))
    assert raw.last.EstablishConnectionHeader.SE == 1
    assert raw.last.EstablishConnectionHeader.OS == 0


def test_a_request_for_another_queue_manager_is_refused(host):
    raw = Raw.initiator(host)
    raw.feed(establish(ServerGuid=guid(7)))
    assert raw.last.InternalHeader.CS == 1
    assert raw.last.EstablishConnectionHeader.ServerGuid == guid(1)
    raw.feed(parameters())
    assert raw.closed is not None
    assert len(raw.sent) == 1


def test_a_refused_connection_that_stays_is_closed_in_time(host):
    raw = Raw.initiator(host)
    raw.feed(establish(ServerGuid=guid(7)))
    host.network.advance(60_000)
    assert "3.1.6.6" in raw.closed


def test_sessions_above_the_limit_are_refused():
    host = Network().host(1, max_sessions=2)
    first, _ = Raw.open(host), Raw.open(host)
    third = Raw.initiator(host)
    third.feed(establish())
    assert third.last.InternalHeader.CS == 1
    assert "3.1.5.3.1" in third.closed
    first.lose()
    assert Raw.open(host).closed is None


def test_connections_without_a_request_do_not_use_up_the_limit():
    host = Network().host(1, max_sessions=1)
    for _ in range(5):
        Raw.initiator(host)
    assert Raw.open(host).closed is None


def test_the_parameters_are_taken_and_answered(host):
    raw = Raw.initiator(host)
    raw.feed(establish())
    raw.feed(parameters(RecoverableAckTimeout=900, AckTimeout=40_000, WindowSize=9))
    response = raw.last
    assert isinstance(response, ConnectionParametersPacket)
    assert (response.BaseHeader.IN, response.InternalHeader.PT, response.InternalHeader.CS) == (1, 3, 0)
    header = response.ConnectionParametersHeader
    assert (header.RecoverableAckTimeout, header.AckTimeout, header.WindowSize) == (900, 40_000, 64)
    session = raw.session
    assert session["SessionState"] == "OPEN"
    assert (session["ReceivedWindowSize"], session["AckWaitTimeout"], session["RecoverableAckSendTimeout"]) == (
        9,
        40_000,
        900,
    )
    assert session["timers"]["SessionInitialization"] is None


def test_a_window_of_zero_is_in_range(host):
    raw = Raw.open(host, WindowSize=0)
    raw.feed(user_message(1))
    assert len(raw.acks) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"RecoverableAckTimeout": 0x1F3},
        {"RecoverableAckTimeout": 0x1D4C1},
        {"AckTimeout": 0x4E1F},
        {"AckTimeout": 0x1D4C1},
    ],
)
def test_parameters_out_of_range_close_the_session(host, fields):
    raw = Raw.initiator(host)
    raw.feed(establish())
    raw.feed(parameters(**fields))
    assert "3.1.5.1.3" in raw.closed
    assert raw.session["SessionState"] == "CLOSED"


def test_the_limits_of_the_parameters_are_in_range(host):
    assert Raw.open(host, RecoverableAckTimeout=0x1F4, AckTimeout=0x4E20).closed is None
    assert Raw.open(host, RecoverableAckTimeout=0x1D4C0, AckTimeout=0x1D4C0).closed is None


def test_a_session_without_parameters_closes_in_time(host):
    raw = Raw.initiator(host)
    host.network.advance(50_000)
    raw.feed(establish())
    host.network.advance(59_999)
    assert raw.closed is None, "the timer starts again with the response"
    host.network.advance(1)
    assert "3.1.6.6" in raw.closed


def test_every_session_has_a_timer_of_its_own(host):
    first = Raw.initiator(host)
    host.network.advance(30_000)
    second = Raw.initiator(host)
    host.network.advance(30_000)
    assert first.closed is not None
    assert second.closed is None


def test_the_last_sixteen_closed_sessions_are_kept(host):
    for _ in range(20):
        Raw.open(host).lose()
    assert [one["SessionState"] for one in host.adm()["Sessions"]] == ["CLOSED"] * 16
