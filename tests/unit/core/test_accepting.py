"""MS-MQQB 3.1.5.10, 3.1.5.3, 3.1.5.3.1, 3.1.5.4, 3.1.5.4.1: accepting a session."""

import pytest
from core_network import Network, guid
from core_raw import Raw, establish, parameters


@pytest.fixture
def host():
    return Network().host(1)


def test_a_request_for_another_queue_manager_is_refused(host):
    raw = Raw.initiator(host)
    raw.feed(establish(ServerGuid=guid(7)))
    assert raw.last.InternalHeader.CS == 1
    assert raw.last.EstablishConnectionHeader.ServerGuid == guid(1)
    raw.feed(parameters())
    assert raw.closed is not None
    assert len(raw.sent) == 1


def test_connections_without_a_request_do_not_use_up_the_limit():
    host = Network().host(1, max_sessions=1)
    for _ in range(5):
        Raw.initiator(host)
    assert Raw.open(host).closed is None
