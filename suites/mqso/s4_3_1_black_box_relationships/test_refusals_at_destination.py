"""MS-MQSO 4.3.1.2, 5.1.1.2, 5.1.1.3: transactional messages that the destination refuses or removes."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.sequences import SequenceSentBySut

NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE, SYSTEM_JOURNAL_QUEUE = (
    "system$;deadletter",
    "system$;deadxact",
    "system$;journal",
)
SOURCE_JOURNAL_RULE = "MQSO-5.1.1.2-D12"
REFUSAL_CLASSES = ("BAD_DST_Q", "Q_EXCEED_QUOTA", "NOT_TRANSACTIONAL_Q", "Q_DELETED", "Q_PURGED", "RECEIVE_TIMEOUT")


@needs("send", "receive", "queue_control")
@covers("MQSO-3.3.4.5-D05", "MQSO-4.3.1.2-04", "MQSO-5.1.1.2-D12", "MQSO-5.1.1.2-D13", "MQSO-5.1.1.3-D08")
@pytest.mark.parametrize("refusal", REFUSAL_CLASSES)
def test_refused_transactional_messages_become_dead_letters_on_request(peer, sut, judge, refusal):
    """The destination reports by FinalAcks that it refused or removed three transactional messages. The SUT stores the
    message with negative journaling in the transactional dead-letter queue and nowhere else. It stores the message with
    positive journaling and the message without journaling in no queue. A fourth message, which was received at the
    destination, is stored in the journal.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-refusing")
    sent = []
    for journal in (["negative"], ["positive"], [], ["positive", "negative"]):
        sent += outgoing.send(1, journal=journal, label=" ".join(["to", *journal]))
    frames = [outgoing.send_session_ack(), outgoing.send_order_ack(4)]
    frames += [outgoing.send_final_ack(number, MessageClass=AckClass[refusal]) for number in (1, 2, 3)]
    frames.append(outgoing.send_final_ack(4, MessageClass=AckClass.RECEIVE))

    def list_labels_in_queue(queue: str) -> list[str]:
        return [one["label"] for one in sut.read_kept_messages(queue)]

    peer.eventually(
        lambda: (
            bool(list_labels_in_queue(TRANSACTIONAL_DEAD_LETTER_QUEUE))
            and bool(list_labels_in_queue(SYSTEM_JOURNAL_QUEUE))
        )
    )
    peer.settle()
    observed = {
        "transactional_dead_letters": list_labels_in_queue(TRANSACTIONAL_DEAD_LETTER_QUEUE),
        "dead_letters": list_labels_in_queue(NONTRANSACTIONAL_DEAD_LETTER_QUEUE),
        "journal": list_labels_in_queue(SYSTEM_JOURNAL_QUEUE),
        "waiting": sut.outgoing_queue(outgoing.to)["count"],
    }
    expected = facts(
        transactional_dead_letters=["to negative"], dead_letters=[], journal=["to positive negative"], waiting=0
    )
    evidence = [*sent, *frames]
    judge(
        *[rule for rule in judge.covers if rule != SOURCE_JOURNAL_RULE],
        expected=expected,
        observed=observed,
        evidence=evidence,
    )
    judge(
        SOURCE_JOURNAL_RULE,
        expected=["to positive negative"],
        observed=observed["journal"],
        case="labels in the journal",
        evidence=evidence,
    )
