"""MS-MQSO 6.6.2 Queue Manager Initialization: a restart."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.peer.remote import RemoteReaderOfSut
from harness.run.marks import covers, needs
from harness.wire.rpc import QMCOMM
from suites.mqqb.steps.pinging import ping_sut
from suites.mqso.steps.serving import SessionAttempt


@needs("restart", "receive")
@covers("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D06", "MQSO-6.6.2-D07")
def test_restarted_sut_accepts_session_and_message(peer, sut, judge):
    """After each of two restarts, the SUT accepts two sessions and an RPC bind, and answers a ping as it did before. It
    stores messages of each kind from the peer and, if it can send, from an application.
    """
    pinged = ping_sut(peer).is_answered if sut.has("ping") else None
    for number in range(2):
        sut.restart()
        if pinged:
            ping = ping_sut(peer)
            judge(
                "MQSO-6.6.2-D06", expected=True, observed=ping.is_answered, case="answered ping", evidence=[ping.sent]
            )
        _judge_that_running_sut_is_ready(peer, sut, judge, f"after{number}")


def _judge_that_running_sut_is_ready(peer, sut, judge, label):
    extra_session = SessionAttempt(peer)
    judge(
        "MQSO-6.6.2-D06",
        expected=SessionAttempt.SERVED_OUTCOME,
        observed=extra_session.outcome,
        evidence=extra_session.evidence,
        case="first session request of the peer",
    )
    attempt = SessionAttempt(peer)
    judge(
        "MQSO-6.6.2-D06",
        expected=SessionAttempt.SERVED_OUTCOME,
        observed=attempt.outcome,
        evidence=attempt.evidence,
        case="session request of the peer",
    )
    if sut.has("qm2qm"):
        association = RemoteReaderOfSut(peer, sut).connect()
        refused, said = association.bind_and_list_rejected_interfaces(QMCOMM)
        judge(
            "MQSO-6.6.2-D06",
            expected=facts(answer="bind_ack", refused=[]),
            observed={"answer": said, "refused": list(refused)},
            case="bind request of a client of remote reading",
            evidence=association.record.frames,
        )
        association.close()
    second_session = peer.open_raw()
    packet = second_session.send(peer.recoverable_message(label=label))
    express = second_session.send(peer.message(label=f"express {label}"))
    labels = [label, f"express {label}"]
    if sut.has("send"):
        sut.attempt(sut.send_here, sut.queue(), [f"own {label}"], delivery="recoverable")
        labels.append(f"own {label}")
    arrived = peer.eventually(lambda: set(labels) <= set(sut.labels(sut.queue())))
    judge(
        "MQSO-6.6.2-01",
        "MQSO-6.6.2-02",
        "MQSO-6.6.2-D07",
        expected=holds("running", otherwise="the SUT does not store messages"),
        observed=bool(arrived),
        evidence=[packet, express],
        case="queue manager",
    )
