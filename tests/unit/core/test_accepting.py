"""MS-MQQB 3.1.5.10, 3.1.5.3, 3.1.5.3.1, 3.1.5.4, 3.1.5.4.1: accepting a session."""

import pytest
from core_network import Network, guid
from core_raw import Raw, establish, parameters, user_message
from published_bytes import load_published


@pytest.fixture
def host():
    return Network().host(1)


def test_request_with_foreign_server_guid_is_refused(host):
    raw = Raw.initiator(host)
    raw.feed(establish(ServerGuid=guid(7)))
    assert raw.last.InternalHeader.CS == 1
    assert raw.last.EstablishConnectionHeader.ServerGuid == guid(1)
    raw.feed(parameters())
    assert raw.closed is not None
    assert len(raw.sent) == 1


def test_probe_of_a_scanner_is_answered_as_windows_answers_it(host):
    """The answer to the scanner nuclei equals the bytes that the scanner expects of Windows, except the byte Reserved,
    which is arbitrary.
    """
    published = load_published()
    raw = Raw.initiator(host)
    raw.feed(published["nuclei-probe"].data)
    expected, found = published["nuclei-answer"].data, raw.last.build()[:16]
    assert (found[:1], found[2:]) == (expected[:1], expected[2:])


def test_refused_connection_is_closed_by_timer(host):
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


def test_session_with_window_size_zero_acknowledges_messages(host):
    raw = Raw.open(host, WindowSize=0)
    raw.feed(user_message(1))
    assert len(raw.acks) == 1


def test_session_without_connection_parameters_closes_60_s_after_the_response(host):
    raw = Raw.initiator(host)
    host.network.advance(50_000)
    raw.feed(establish())
    host.network.advance(59_999)
    assert raw.closed is None, "the timer starts again with the response"
    host.network.advance(1)
    assert "3.1.6.6" in raw.closed


def test_every_session_has_its_own_initialization_timer(host):
    first = Raw.initiator(host)
    host.network.advance(30_000)
    second = Raw.initiator(host)
    host.network.advance(30_000)
    assert first.closed is not None
    assert second.closed is None
