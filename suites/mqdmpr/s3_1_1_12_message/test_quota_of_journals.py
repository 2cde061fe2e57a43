"""MS-MQDMPR 3.1.1.12 Message: journaled messages and dead letters while the journal quota is exceeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.ordering import ACK_RECEIVE
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut

SYSTEM_JOURNAL_QUEUE, NONTRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;journal", "system$;deadletter"
TRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;deadxact"
JOURNAL_QUOTA_PROPERTY = "journal_quota_kb"
MESSAGE_LIFETIME_S = 1
EXPIRY_WAIT_MS = 2_100
"""A waiting time in ms that exceeds LIFE_S even on a clock that counts only whole seconds."""
EARLIER_JOURNAL_COPY_NAME, JOURNAL_COPY_NAME_ABOVE_QUOTA, JOURNAL_COPY_NAME_WITHIN_QUOTA = (
    "journal copy of the earlier message",
    "journal copy of the message above the quota",
    "journal copy of the message within the quota",
)
KEPT_OR_DISCARDED_BY_JOURNAL_COPY_NAME = {
    EARLIER_JOURNAL_COPY_NAME: "kept",
    JOURNAL_COPY_NAME_ABOVE_QUOTA: "discarded",
    JOURNAL_COPY_NAME_WITHIN_QUOTA: "kept",
}


def _judge_journal_copies_at_quota(
    peer: Any, sut: Any, judge: Any, rule: str, queue: str, finish: Callable[[int], str], evidence: Callable[[], Any]
) -> None:
    """Judge whether the SUT keeps a copy of a message that completes while the journal quota is 0, and copies of
    messages that complete earlier and later. ``finish`` gets the number of a message, waits until the message has
    left its outgoing queue, and returns its identifier.
    """
    in_force = sut.control.call("configure")
    if JOURNAL_QUOTA_PROPERTY not in in_force:
        judge.give_up(Verdict.NOT_OBSERVABLE, f"the control channel has no setting {JOURNAL_QUOTA_PROPERTY}")
        return
    names = {}
    usual = in_force[JOURNAL_QUOTA_PROPERTY]
    quotas = {EARLIER_JOURNAL_COPY_NAME: usual, JOURNAL_COPY_NAME_ABOVE_QUOTA: 0, JOURNAL_COPY_NAME_WITHIN_QUOTA: usual}
    for number, (name, quota) in enumerate(quotas.items(), 1):
        sut.configure(**{JOURNAL_QUOTA_PROPERTY: quota})
        names[finish(number)] = name
        if name == EARLIER_JOURNAL_COPY_NAME:
            peer.eventually(lambda: names.keys() & _list_identifiers_of_kept_messages(sut, queue))

    def list_copies() -> dict[str, str]:
        labels = {names.get(one) for one in _list_identifiers_of_kept_messages(sut, queue)}
        return {name: "kept" if name in labels else "discarded" for name in KEPT_OR_DISCARDED_BY_JOURNAL_COPY_NAME}

    peer.eventually(lambda: list_copies() == KEPT_OR_DISCARDED_BY_JOURNAL_COPY_NAME)
    judge(rule, expected=KEPT_OR_DISCARDED_BY_JOURNAL_COPY_NAME, observed=list_copies(), evidence=evidence())


def _list_identifiers_of_kept_messages(sut: Any, queue: str) -> set[str]:
    return {str(one["message_id"]) for one in sut.read_kept_messages(queue)}


@needs("send", "receive", "queue_control", "configure")
@covers("MQDMPR-3.1.1.12-22")
def test_received_transactional_message_is_discarded_while_journal_is_full(peer, sut, judge):
    """The peer reports by FinalAcks that two transactional messages with positive journaling were received, the first
    one while the journal quota is 0. The SUT stores only the second message in the journal.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-full-journal")

    def deliver_message(number: int) -> str:
        outgoing.send(journal=["positive"])
        outgoing.send_session_ack()
        outgoing.send_order_ack(number)
        outgoing.send_final_ack(number, MessageClass=ACK_RECEIVE)
        peer.settle()
        return str(outgoing.identifiers[number - 1])

    _judge_journal_copies_at_quota(
        peer, sut, judge, "MQDMPR-3.1.1.12-22", SYSTEM_JOURNAL_QUEUE, deliver_message, lambda: outgoing.sent
    )
    outgoing.acknowledge_all()


@needs("send", "receive", "queue_control", "configure")
@covers("MQDMPR-3.1.1.12-22")
@varied("acknowledgments", "response queue", "time to be received", "time to reach queue", "label")
def test_delivered_message_is_discarded_while_journal_is_full(peer, sut, judge):
    """The SUT does not store a message with positive journaling in the journal if the message is delivered while the
    journal quota is 0. The SUT stores a message that is delivered after the quota has been raised.
    """
    sender = Sender(peer, sut)
    sessions: list[Any] = []

    def deliver_message(number: int) -> str:
        (name,) = sender.send(number, journal=["positive"], delivery="recoverable")
        sessions.extend([] if sessions else [sender.await_session()])
        sender.collect_messages(sessions[0], number)
        sender.acknowledge_all(sessions[0])
        peer.eventually(lambda: sut.outgoing_queue(sender.to)["count"] == 0)
        return name

    _judge_journal_copies_at_quota(
        peer, sut, judge, "MQDMPR-3.1.1.12-22", SYSTEM_JOURNAL_QUEUE, deliver_message, lambda: peer.inbox.copies
    )


@needs("send", "queue_control", "configure", "restart")
@covers("MQDMPR-3.1.1.12-22")
@varied("response queue", "time to be received", acknowledgments=("none", "of arrival"))
def test_unjournaled_message_is_not_resent_after_restart(peer, sut, judge):
    """A delivered message could not be stored in the full journal. The SUT does not send this message again after a
    restart.
    """
    if JOURNAL_QUOTA_PROPERTY not in sut.control.call("configure"):
        judge.give_up(Verdict.NOT_OBSERVABLE, f"the control channel has no setting {JOURNAL_QUOTA_PROPERTY}")
        return
    sut.configure(**{JOURNAL_QUOTA_PROPERTY: 0})
    sender = Sender(peer, sut)
    properties: dict[str, Any] = {"journal": ["positive"], "delivery": "recoverable"}
    sender.send(1, **properties)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.eventually(lambda: sut.outgoing_queue(sender.to)["count"] == 0)
    sut.restart()
    sender.send(2, **properties)
    later = sender.await_session()
    later_frames = sender.collect_messages_until_silence(later, 1)
    later.acknowledge_all()
    judge(
        "MQDMPR-3.1.1.12-22",
        expected=[2],
        observed=Sender.list_tags(later_frames),
        evidence=[*frames, *later_frames],
        case="ApplicationTags of the messages sent after a restart",
    )


@needs("send", "receive", "queue_control", "configure", "pause")
@covers("MQDMPR-3.1.1.12-25")
@pytest.mark.parametrize("delivery", ["express", "transactional"])
@varied("positive journaling", "response queue", acknowledgments=("none", "of receipt"))
def test_expired_message_is_discarded_while_dead_letter_queue_is_full(peer, sut, judge, delivery):
    """The SUT does not store a message with negative journaling in the dead-letter queue if the message expires while
    the journal quota is 0. The SUT stores a message that expires after the quota has been raised.
    """
    sender = Sender(peer, sut)
    sender.send(9)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()

    def wait_until_message_expires(number: int) -> str:
        sut.pause(sender.to)
        limits = {"time_to_reach_queue_s": MESSAGE_LIFETIME_S, "delivery": delivery}
        (name,) = sender.send(number, journal=["negative"], **limits)
        peer.pass_time(EXPIRY_WAIT_MS)
        sut.resume(sender.to)
        peer.eventually(lambda: sut.outgoing_queue(sender.to)["count"] == 0)
        return name

    queue = TRANSACTIONAL_DEAD_LETTER_QUEUE if delivery == "transactional" else NONTRANSACTIONAL_DEAD_LETTER_QUEUE
    _judge_journal_copies_at_quota(
        peer, sut, judge, "MQDMPR-3.1.1.12-25", queue, wait_until_message_expires, lambda: frames
    )
