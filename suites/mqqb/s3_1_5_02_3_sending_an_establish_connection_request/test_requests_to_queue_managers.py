"""MS-MQQB 3.1.5.2.3: the requests of an initiator that knows the GUID of the acceptor."""

from __future__ import annotations

from harness.expectations import between
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    CLOSED_ON_TIME_EXPECTATION,
    INITIALIZATION_TIMER_MS,
    RETRY_INTERVAL_MS,
    describe_initialization_end,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("timers", "private_names")
@covers("MQQB-3.1.5.2.3-10", "MQQB-3.1.5.2.3-15")
def test_request_for_private_name_has_time_and_timer_of_every_request(peer, sut, judge):
    """The SUT sends two requests for a private name. Their TimeStamps differ by the time between the requests in ms.
    The peer answers neither, and the SUT closes the second connection when its Session Initialization Timer expires.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    first = session.await_request()
    session.connection.close()
    peer.pass_time(sut.duration_ms(RETRY_INTERVAL_MS))
    second = session.await_request()
    elapsed = peer.measure_duration(first, second)
    stamps = [int(frame["EstablishConnectionHeader"].TimeStamp) for frame in (first, second)]
    passed_ms = stamps[1] - stamps[0] & 0xFFFF_FFFF
    judge(
        "MQQB-3.1.5.2.3-10",
        expected=between(*elapsed.get_allowed_range(elapsed.ms * 3 // 4, elapsed.ms * 5 // 4, passed_ms)),
        observed=passed_ms,
        case="difference of the two TimeStamps",
        evidence=[first, second],
    )
    judge.conclude("MQQB-3.1.5.2.3-10")
    judge(
        "MQQB-3.1.5.2.3-15",
        expected=CLOSED_ON_TIME_EXPECTATION,
        observed=describe_initialization_end(sut, session.connection, second.time_ms, lasts_ms),
        case="end of the second connection",
        evidence=second,
    )
