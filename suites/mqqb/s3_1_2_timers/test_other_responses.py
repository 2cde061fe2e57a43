"""MS-MQQB 3.1.2.9 Ping Response Timer: responses to other requests."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import PING_RESPONSE_TIMEOUT_MS, PingingSut, get_ping_cookie

DELAY_BEFORE_OTHER_PING_RESPONSE_MS = PING_RESPONSE_TIMEOUT_MS * 4 // 5


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.2.9-D01")
def test_responses_with_other_cookies_do_not_restart_timer(peer, sut, judge):
    """After a Ping Request of the SUT, the peer sends three Ping Responses with other Cookies, one after the other, and
    then the Ping Response with the Cookie of the request, 2.4 s after the request. The SUT opens no session.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    cookie, evidence = get_ping_cookie(asked), [asked]
    for change in (1, 2, 0):
        peer.pass_time(sut.duration_ms(DELAY_BEFORE_OTHER_PING_RESPONSE_MS))
        evidence.append(pinging_sut.answer_ping(asked, Cookie=cookie ^ change))
    observed = pinging_sut.await_session(
        pinging_sut.time_shorter_than_retry_timer_ms - sut.duration_ms(3 * DELAY_BEFORE_OTHER_PING_RESPONSE_MS)
    )
    judge(
        "MQQB-3.1.2.9-D01",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=observed,
        case="after responses with wrong Cookies",
        evidence=evidence,
    )
