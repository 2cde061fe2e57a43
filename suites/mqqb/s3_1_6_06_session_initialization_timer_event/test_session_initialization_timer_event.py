"""MS-MQQB 3.1.6.6 Session Initialization Timer Event, and where the timer is started and stopped."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    INITIALIZATION_MS,
    ON_TIME,
    acknowledgment,
    closing,
    opened,
    pass_time,
    request,
)


@needs("set_timers")
@covers("MQQB-3.1.5.10-03", "MQQB-3.1.6.6-01")
def test_a_connection_without_a_request_is_closed(peer, sut, judge):
    """A connection on which nothing comes is closed when the timer expires that runs since it was accepted."""
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    used = opened(peer)
    since_ms = peer.recorder.elapsed_ms()
    observed = closing(sut, peer.connect(), since_ms)
    evidence = acknowledgment(used)
    if evidence is None:
        raise ConformanceFailure("the SUT does not acknowledge messages now: it may have closed for another reason")
    judge.all(expected=ON_TIME, observed=observed, evidence=evidence)


@needs("set_timers")
@covers("MQQB-3.1.6.6-01")
def test_a_request_that_comes_byte_by_byte_does_not_put_the_timer_off(peer, sut, judge):
    """A connection on which the bytes of a request come, a few each quarter of the time, is closed when it is over."""
    sut.slow_down(20)
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    since_ms = peer.recorder.elapsed_ms()
    connection = peer.connect()
    data = bytes(request(peer))
    for at in range(3):
        connection.send(data[4 * at : 4 * at + 4])
        pass_time(peer, sut.duration_ms(INITIALIZATION_MS) // 4)
    observed = closing(sut, connection, since_ms)
    judge("MQQB-3.1.6.6-01", expected=ON_TIME, observed=observed, evidence=connection.sent)
