"""MS-MQSO 6.6.1, 6.6.2: the state that a queue manager shows after its provisioning and after a restart."""

from __future__ import annotations

from harness.expectations import one_of
from harness.run.marks import covers, needs
from suites.mqso.steps.serving import SessionAttempt
from suites.mqso.steps.shown_states import RUNNING_STATES, read_shown_state

NO_STATE_REASON = "the SUT does not show QueueManagerState"


def _judge_shown_queue_manager_state(peer, sut, judge, rules, when):
    attempt = SessionAttempt(peer)
    state = read_shown_state(sut)
    if state is None:
        judge.mark_not_exercised(*rules, reason=NO_STATE_REASON)
        return
    case = f"session request {when}"
    judge(
        *rules, expected=SessionAttempt.SERVED_OUTCOME, observed=attempt.outcome, case=case, evidence=attempt.evidence
    )
    case = f"QueueManagerState {when}"
    judge(*rules, expected=one_of(*RUNNING_STATES), observed=state, case=case, evidence=attempt.evidence)


@needs("inspect", "restart")
@covers("MQSO-6.6.1-D07", "MQSO-6.6.2-01", "MQSO-6.6.2-D07")
def test_sut_shows_that_it_is_running(peer, sut, judge):
    """The SUT accepts a session and shows that it is running, before and after a restart."""
    _judge_shown_queue_manager_state(peer, sut, judge, ("MQSO-6.6.1-D07",), "before the restart")
    sut.restart()
    _judge_shown_queue_manager_state(peer, sut, judge, ("MQSO-6.6.2-01", "MQSO-6.6.2-D07"), "after the restart")


@needs("directory", "inspect", "restart")
@covers("MQSO-6.6.1-D07", "MQSO-6.6.2-01", "MQSO-6.6.2-D07")
def test_sut_in_directory_mode_shows_that_it_is_running(peer, sut, judge):
    """A SUT in directory mode accepts a session and shows that it is running, before and after a restart."""
    _judge_shown_queue_manager_state(peer, sut, judge, ("MQSO-6.6.1-D07",), "before the restart")
    sut.restart()
    _judge_shown_queue_manager_state(peer, sut, judge, ("MQSO-6.6.2-01", "MQSO-6.6.2-D07"), "after the restart")
