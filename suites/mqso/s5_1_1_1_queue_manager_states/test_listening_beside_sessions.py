"""MS-MQSO 5.1.1, 6.6.1: sessions, pings and remote calls beside open sessions, and after a restart."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import ping_sut
from suites.mqso.steps.serving import SessionAttempt
from suites.mqso.steps.shown_states import BindAttempt

OUTCOMES_OF_LISTENING_SUT = {
    "session_requests": [SessionAttempt.SERVED_OUTCOME] * 2,
    "pings_answered": [True, True],
    "binds_accepted": [True, True],
}


@needs("qm2qm", "ping")
@covers("MQSO-5.1.1-01", "MQSO-6.6.1-D07")
def test_sut_listens_beside_open_session_and_remote_reader(peer, sut, remote, judge):
    """While a session of the peer is open and a remote reader is connected, the SUT accepts two more sessions, answers
    two pings, and accepts the binds of two further remote readers.
    """
    connection = peer.open_raw()
    remote.connect()
    _judge_whether_sut_listens(
        peer, sut, judge, "MQSO-5.1.1-01", "MQSO-6.6.1-D07", case="beside a session and a reader"
    )
    connection.require_session_ack_for_message()


@needs("qm2qm", "ping", "restart")
@covers("MQSO-5.1.1-01")
def test_sut_listens_after_restart(peer, sut, judge):
    """After a restart, and while a session is open, the SUT accepts two more sessions, answers two pings, and accepts
    the binds of two remote readers.
    """
    sut.restart()
    connection = peer.open_raw()
    _judge_whether_sut_listens(peer, sut, judge, "MQSO-5.1.1-01", case="after a restart")
    connection.require_session_ack_for_message()


def _judge_whether_sut_listens(peer, sut, judge, *rules, case):
    attempts = [SessionAttempt(peer) for _ in range(2)]
    pings = [ping_sut(peer) for _ in range(2)]
    binds = [BindAttempt(peer, sut) for _ in range(2)]
    evidence = [frame for one in attempts for frame in one.evidence]
    evidence += [frame for one in binds for frame in one.evidence] + [one.sent for one in pings]
    observed = {
        "session_requests": [one.outcome for one in attempts],
        "pings_answered": [one.is_answered for one in pings],
        "binds_accepted": [one.is_method_supported for one in binds],
    }
    judge(*rules, expected=facts(**OUTCOMES_OF_LISTENING_SUT), observed=observed, case=case, evidence=evidence)
