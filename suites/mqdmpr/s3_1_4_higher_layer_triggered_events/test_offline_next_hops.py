"""MS-MQDMPR 3.1.4.12: a system that is taken offline while it tries the addresses of a host name."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS

CONNECTED_OUTCOME, NOT_CONNECTED_OUTCOME = "connected", "not connected"


@needs("send", "pause", "two_addresses")
@covers("MQDMPR-3.1.4.12-03")
def test_offline_sut_connects_to_no_further_address(peer, sut, judge):
    """The SUT has a message for a host name with several addresses, and is taken offline before it has connected to the
    address of the peer. The SUT connects to the peer only when it is online again.
    """
    session = OutgoingSession(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    sut.take_offline()
    while session.listener.accept(0) is not None:
        pass  # a connection of the time before
    retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    offline = session.listener.accept(2 * retry_ms + sut.connect_timeout_ms)
    sut.bring_online()
    judge(
        "MQDMPR-3.1.4.12-03",
        expected=NOT_CONNECTED_OUTCOME,
        observed=NOT_CONNECTED_OUTCOME if offline is None else CONNECTED_OUTCOME,
        case="SUT that is offline",
        evidence=[] if offline is None else [offline.last],
    )
    judge.conclude("MQDMPR-3.1.4.12-03")
    session.await_request()
