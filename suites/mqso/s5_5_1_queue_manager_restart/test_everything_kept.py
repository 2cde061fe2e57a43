"""MS-MQSO 5.5.1, 4.3.1, 3.2.1: everything that a queue manager keeps across two restarts."""

from __future__ import annotations

from harness.expectations import distinct_values, facts, none
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header
from suites.mqso.steps.inventory import QueueInventory

LATER_MESSAGE_TAG = 10
SENT_DELIVERY_AND_PRIORITY = (
    ("express", 7), ("recoverable", 3), ("transactional", 0), ("recoverable", 0), ("transactional", 0)
)  # fmt: skip
"""The delivery and the priority of the messages of each outgoing queue. The tag of a message is its place from 1."""
LARGE_BODY_BYTES = 70_000
RESTART_RULE_BY_QUEUE_KIND = {"plain": "MQSO-5.5.1-05", "transactional": "MQSO-5.5.1-03"}
OUTGOING_MESSAGE_RULES = ("MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-D01", "MQSO-6.6.2-02")


@needs("send", "receive", "queue_control", "restart")
@covers(
    "MQSO-3.2.1-D02", "MQSO-3.2.1-D01", "MQSO-4.3.1-01", "MQSO-5.1.1.3-D01", "MQSO-5.5.1-01", "MQSO-5.5.1-03",
    "MQSO-5.5.1-05", "MQSO-5.5.1-06", "MQSO-6.6.2-02",
)  # fmt: skip
def test_queues_journals_and_subqueues_are_unchanged_by_restarts(peer, sut, judge):
    """Three queues with every property set, and their subqueues and journals, contain messages from an application and
    from the peer, also with every property set, as well as an express message and a message that will expire. After
    each of two restarts, queues and messages are unchanged, except that the express message is lost. The expiring
    message leaves its queue when its lifetime ends. A new message has a new identifier.
    """
    kept = QueueInventory(peer, sut)
    properties = kept.read_queue_properties()
    messages = {kind: kept.messages(kind) for kind in RESTART_RULE_BY_QUEUE_KIND}
    identifiers = kept.list_message_identifiers()
    for number in range(2):
        sut.restart()
        rules = ("MQSO-5.5.1-01", "MQSO-4.3.1-01", "MQSO-6.6.2-02")
        judge(*rules, expected=properties, observed=kept.read_queue_properties(), case="properties")
        for kind, rule in RESTART_RULE_BY_QUEUE_KIND.items():
            rules = (
                rule,
                "MQSO-5.5.1-01",
                "MQSO-4.3.1-01",
                "MQSO-6.6.2-02",
                *(("MQSO-3.2.1-D02",) if kind == "plain" else ()),
            )
            observed = kept.messages(kind)
            judge(*rules, expected=facts(**messages[kind]), observed=observed, case=f"messages of the {kind} queue")
            express = [label for label in kept.labels(kind) if label == "express"]
            judge(
                "MQSO-5.5.1-06",
                "MQSO-5.1.1.3-D01",
                "MQSO-3.2.1-D01",
                expected=none("express message"),
                observed=express,
            )
            if number:
                gone = kept.await_expiration_of_message(kind)
                judge(rule, expected=True, observed=gone, case=f"the message of the {kind} queue has expired")
        judge.conclude("MQSO-5.5.1-06", "MQSO-5.1.1.3-D01", "MQSO-3.2.1-D01", "MQSO-3.2.1-D02")
        new = [sut.send(sut.direct_name(kept.queues["plain"]), label="new", body="", delivery="recoverable")]
        repeated = [one for one in new if one in identifiers]
        judge("MQSO-5.5.1-01", expected=none("repeated message identifier"), observed=repeated)
        identifiers.update(new)
        sut.control.call("receive_by_lookup_id", queue=kept.queues["plain"], lookup_id=0, seek="last")
        messages["plain"] = kept.messages("plain") if new else messages["plain"]


@needs("send", "queue_control", "restart", "pause")
@covers(*OUTGOING_MESSAGE_RULES, "MQSO-5.5.1-01", "MQSO-5.5.1-06", "MQSO-3.2.1-D01")
def test_two_outgoing_queues_are_unchanged_by_restart(peer, sut, judge):
    """Two outgoing queues each contain two recoverable, two transactional and two express messages with different
    properties, two messages of one transaction, and a message that will expire; some of the messages are large. After
    two restarts, each queue sends its recoverable and its transactional messages in order, and a later message
    continues the sequence. The expired message is not sent. After the acknowledgments, both queues are empty.
    """
    names = [peer.direct_name(f"mqc-kept-{number}") for number in range(2)]
    together = [6, 7] if sut.has("transactions") else []
    in_all = len(names) * (4 + len(together)) + 1
    sut.take_offline()
    for base, to in enumerate(names, 1):
        for tag, (delivery, priority) in enumerate(SENT_DELIVERY_AND_PRIORITY, 1):
            sut.send(
                to, body=f"{to} {tag}" * (LARGE_BODY_BYTES // len(to) if tag >= 4 else 1),
                application_tag=base * 16 + tag, delivery=delivery, priority=priority,
                label=f"{tag}" * 249, response_queue=names[0],
            )  # fmt: skip
        transaction = sut.control.call("begin")["transaction"] if together else None
        for tag in together:
            sut.send(
                to, body=f"{tag}", application_tag=base * 16 + tag, delivery="transactional", transaction=transaction
            )
        if transaction is not None:
            sut.control.call("commit", transaction=transaction)
        sut.send(to, body="late", application_tag=base * 16 + 9, delivery="recoverable", time_to_reach_queue_s=1)
    sut.restart()
    sut.take_offline()
    sut.environment.run_until(lambda: False, 2_500)
    sut.restart()
    sut.bring_online()
    sut.send(names[0], body="later", application_tag=16 + LATER_MESSAGE_TAG, delivery="transactional")
    observed: dict[str, object] = {}
    expected: dict[str, object] = {}
    frames = []
    sender = Sender(peer, sut, names[0])
    sessions = [session for _ in names if (session := sender.poll_session()) is not None]
    for session in sessions:
        sender.collect_messages_until_silence(session, 4)
    peer.eventually(lambda: sum(len(session.messages) for session in sessions) >= in_all)
    arrived = [frame for session in sessions for frame in session.messages]
    frames += arrived
    for base, to in enumerate(names, 1):
        mine = [frame for frame in arrived if Sender.list_tags([frame])[0] // 16 == base]
        observed[to] = {
            "recoverable": [tag % 16 for tag in Sender.list_tags([one for one in mine if not one["UserHeader"].TH])],
            "transactional": [tag % 16 for tag in Sender.list_tags([one for one in mine if one["UserHeader"].TH])],
            "waiting": sut.outgoing_queue(to)["count"],
        }
        later = [LATER_MESSAGE_TAG] if base == 1 else []
        waiting = 4 + len(together)
        expected[to] = facts(recoverable=[2, 4], transactional=[3, 5, *together, *later], waiting=waiting + len(later))
        headers = [get_transaction_header(one) for one in mine if one["UserHeader"].TH]
        places = [f"{one.TxSequenceID}:{one.TxSequenceNumber}" for one in headers]
        judge(
            "MQSO-5.5.1-01",
            expected=distinct_values("places in a sequence", 2 + len(together) + len(later)),
            observed=places,
            evidence=mine,
            case=to,
        )
    express = [tag for tag in Sender.list_tags(arrived) if tag % 16 == 1]
    judge("MQSO-5.5.1-06", "MQSO-3.2.1-D01", expected=none("express message"), observed=express, evidence=arrived)
    judge(
        *OUTGOING_MESSAGE_RULES, expected=expected, observed=observed, evidence=arrived, case="messages of each queue"
    )
    for session in sessions:
        session.acknowledge_all()
        last = [frame for frame in session.messages if frame["UserHeader"].TH][-1:]
        for frame in last:
            session.send(build_order_ack(peer, frame))
    peer.eventually(lambda: not any(sut.outgoing_queue(to)["count"] for to in names))
    left = {to: sut.outgoing_queue(to)["count"] for to in names}
    judge(
        *OUTGOING_MESSAGE_RULES,
        expected=dict.fromkeys(names, 0),
        observed=left,
        case="waiting messages",
        evidence=arrived,
    )
