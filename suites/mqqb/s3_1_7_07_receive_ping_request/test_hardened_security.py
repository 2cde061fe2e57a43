"""MS-MQQB 3.1.7.7 Receive Ping Request in hardened security mode (MS-MQDMPR 3.1.1.1)."""

from __future__ import annotations

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqqb.steps.hardening import harden_security, has_hardened_security_setting
from suites.mqqb.steps.pinging import PING_SIGNATURE, ping_sut, request_session_or_report_refused_connection


@needs("ping", "restart", "configure")
@covers("MQQB-3.1.7.7-05", "MQQB-3.1.7.7-10")
def test_rf_is_set_in_hardened_security_mode(peer, sut, judge):
    """The SUT restarts in hardened security mode, in which it accepts no session, and then restarts without this mode.
    Each time, RF in a Ping Response predicts whether the SUT accepts the next session request.
    """
    if not has_hardened_security_setting(sut):
        for rule in ("MQQB-3.1.7.7-05", "MQQB-3.1.7.7-10"):
            judge.mark_not_exercised(rule, reason="the SUT shows no setting hardened_security")
        return
    with harden_security(sut):
        sut.restart()
        _judge_whether_rf_predicts_session_outcome(peer, judge, "with hardened security")
    _judge_whether_rf_predicts_session_outcome(peer, judge, "without hardened security")


def _judge_whether_rf_predicts_session_outcome(peer, judge, case: str) -> None:
    """Judge whether RF of a Ping Response predicts the outcome of a session request."""
    exchange = ping_sut(peer)
    outcome = request_session_or_report_refused_connection(peer)
    if not exchange.is_answered and outcome != "accepted":
        reason = f"the SUT answers no ping {case}"
        for rule in ("MQQB-3.1.7.7-05", "MQQB-3.1.7.7-10"):
            judge.mark_not_exercised(rule, reason=reason, evidence=[*exchange])
        return
    if exchange.ping is None:
        judge.mark_not_exercised("MQQB-3.1.7.7-10", reason=f"the SUT answers no ping {case}", evidence=[*exchange])
    else:
        judge(
            "MQQB-3.1.7.7-10",
            expected=fields({"Signature": PING_SIGNATURE}),
            observed=exchange.fields("Signature"),
            case=f"response {case}",
            evidence=[*exchange],
        )
    judge(
        "MQQB-3.1.7.7-05",
        expected=outcome,
        observed=exchange.session_outcome_predicted_by_rf,
        case=f"outcome that RF of the Ping Response predicts {case}",
        evidence=exchange,
    )
