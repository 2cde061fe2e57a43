"""MS-MQQB 3.1.6.6 Session Initialization Timer Event, and where the timer is started and stopped."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.handshake import establish_request
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import EARLY, INITIALIZATION_MS, ON_TIME, RETRY_MS, accepted, closing, listen


@needs("set_timers")
@covers("MQQB-3.1.5.10-03", "MQQB-3.1.6.6-01")
def test_a_connection_without_a_request_is_closed(peer, sut, judge):
    """A connection on which nothing comes is closed when the timer expires that runs since it was accepted."""
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    used = peer.open_raw()
    since_ms = peer.recorder.elapsed_ms()
    observed = closing(sut, peer.connect(), since_ms)
    evidence = used.acknowledgment()
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
    data = bytes(establish_request(peer))
    for at in range(3):
        connection.send(data[4 * at : 4 * at + 4])
        peer.pass_time(sut.duration_ms(INITIALIZATION_MS) // 4)
    observed = closing(sut, connection, since_ms)
    judge("MQQB-3.1.6.6-01", expected=ON_TIME, observed=observed, evidence=connection.sent)


@needs("set_timers")
@covers("MQQB-3.1.6.6-01", "MQQB-3.1.2.1-01", "MQQB-3.1.2.1-D01")
def test_an_acceptor_that_gets_no_parameters_closes(peer, sut, judge):
    """A session that waits for ConnectionParameters is closed when the timer expires."""
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    connection = peer.request_session()
    answer = connection.received[0]
    observed = closing(sut, connection, answer.time_ms)
    judge.all(expected=ON_TIME, observed=observed, evidence=answer)


@needs("set_timers")
@covers("MQQB-3.1.5.2.3-01", "MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01")
def test_an_initiator_that_gets_no_response_closes(peer, sut, judge):
    """A second attempt is closed when its own timer expires, not when that of the first would have."""
    sut.slow_down(20)
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    listener = listen(peer, sut)
    first, _ = accepted(listener)
    peer.pass_time(sut.duration_ms(INITIALIZATION_MS) // 2 - sut.duration_ms(RETRY_MS))
    first.close()
    connection, asked = accepted(listener)
    observed = closing(sut, connection, asked.time_ms)
    early = isinstance(observed, str) and observed.startswith(EARLY)
    judge("MQQB-3.1.5.2.3-01", expected=holds("not closed early"), observed=not early or observed, evidence=asked)
    if early:
        raise ConformanceFailure("the SUT closed before the timer of this attempt could expire")
    judge("MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01", expected=ON_TIME, observed=observed, evidence=asked)
