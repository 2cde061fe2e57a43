"""MS-MQQB 3.1.7.7 Receive Ping Request in hardened security mode (MS-MQDMPR 3.1.1.1)."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.hardening import harden_security, shows_hardened_security
from suites.mqqb.steps.pinging import ping_sut, try_session_request


@needs("ping", "restart", "configure")
@covers("MQQB-3.1.7.7-05")
def test_rf_is_set_in_hardened_security_mode(peer, sut, judge):
    """The SUT restarts in hardened security mode, in which it accepts no session, and restarts without this mode: each
    time, RF of a Ping Response predicts whether the SUT accepts the next session request.
    """
    if not shows_hardened_security(sut):
        judge.mark_not_exercised("MQQB-3.1.7.7-05", reason="the SUT shows no setting hardened_security")
        return
    with harden_security(sut):
        sut.restart()
        _judge_prediction(peer, judge, "with hardened security")
    _judge_prediction(peer, judge, "without hardened security")


def _judge_prediction(peer, judge, case: str) -> None:
    """Judge whether RF of a Ping Response predicts the outcome of a session request."""
    exchange = ping_sut(peer)
    outcome = try_session_request(peer)
    if not exchange.is_answered and outcome != "accepted":
        reason = f"the SUT answers no ping {case}"
        judge.mark_not_exercised("MQQB-3.1.7.7-05", reason=reason, evidence=[*exchange])
        return
    judge(
        "MQQB-3.1.7.7-05",
        expected=outcome,
        observed=exchange.predicted_outcome,
        case=f"outcome that RF of the Ping Response predicts {case}",
        evidence=exchange,
    )
