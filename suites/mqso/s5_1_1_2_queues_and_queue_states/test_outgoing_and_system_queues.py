"""MS-MQSO 5.1.1.2: outgoing queues and system queues."""

from __future__ import annotations

from typing import Any

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.releases import LackedByRelease, find_release
from suites.mqqb.steps.ordering import ORDER_QUEUE_PATH, Receiver
from suites.mqqb.steps.sender import Sender

NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE, SYSTEM_JOURNAL_QUEUE = (
    "system$;deadletter",
    "system$;deadxact",
    "system$;journal",
)
SHORT_LIFETIME_S = 2
ON_HOLD_STATE = "OnHold"
"""The state of a paused outgoing queue."""


@needs("send", "queue_control")
@covers("MQSO-3.3.4.3-D03", "MQSO-5.1.1.2-D07")
@varied("priority", "response queue", "time to be received", "time to reach queue", "label")
def test_each_destination_has_own_outgoing_queue(peer, sut, judge):
    """Different numbers of messages are sent to different queues of the peer, by direct and by private names. Each
    queue's messages wait in a separate outgoing queue.
    """
    names = [peer.direct_name(f"mqc-{number}") for number in (1, 2, 3)]
    if sut.has("private_names"):
        names += [peer.build_private_format_name_of_peer(number) for number in (4, 5)]
    for count, name in enumerate(names, 1):
        for _ in range(count):
            sut.send(name, body="waits")
    counts = {one["format_name"].lower(): one["count"] for one in sut.control.call("list")["outgoing"]}
    judge(
        "MQSO-5.1.1.2-D07",
        "MQSO-3.3.4.3-D03",
        expected={name: count for count, name in enumerate(names, 1)},
        observed={name: counts.get(name.lower(), 0) for name in names},
        case="number of messages in each outgoing queue",
    )


@needs("send", "queue_control", "pause")
@covers("MQSO-5.1.1.2-D10", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.4.15-03")
def test_paused_outgoing_queue_sends_after_resume(peer, sut, judge):
    """A paused outgoing queue sends neither of its two messages, while a second outgoing queue is not paused. When the
    second queue is paused and resumed, the first queue remains paused. When the first queue is resumed, it sends both
    messages in order.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-held"))
    other = peer.direct_name("mqc-not-held")
    sender.send(1)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    sut.send(other, body="waits")
    sut.pause(sender.to)
    sender.send(2, 3)
    frames = sender.collect_messages_until_silence(session, 2)
    observed = {
        "ApplicationTags_of_the_sent_messages": Sender.list_tags(frames),
        "number_of_waiting_messages": sut.outgoing_queue(sender.to)["count"],
    }
    judge.all(
        expected=facts(ApplicationTags_of_the_sent_messages=[1], number_of_waiting_messages=2),
        observed=observed,
        evidence=frames,
    )
    paused = {"second_queue_while_first_is_paused": sut.outgoing_queue(other)["state"] == ON_HOLD_STATE}
    sut.pause(other)
    sut.resume(other)
    paused["first_queue_after_second_is_resumed"] = sut.outgoing_queue(sender.to)["state"] == ON_HOLD_STATE
    judge.all(
        expected={"second_queue_while_first_is_paused": False, "first_queue_after_second_is_resumed": True},
        observed=paused,
        evidence=frames,
        case="paused queues",
    )
    sut.resume(sender.to)
    session = session if session.record.closed_by is None else sender.await_session()
    frames = sender.collect_messages_until_silence(session, 3)
    judge(
        "MQSO-5.1.1.2-D10",
        "MQDMPR-3.1.4.15-03",
        expected=[2, 3],
        observed=[tag for tag in Sender.list_tags(frames) if tag != 1],
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    session.acknowledge_all()


@needs("send", "receive", "queue_control")
@covers("MQSO-5.1.1.2-D11")
def test_system_queues_refuse_messages_and_deletion(peer, sut, judge):
    """The dead-letter queues and the journal cannot be deleted. They store no message that an application or the peer
    sends to them.
    """
    connection = peer.open_raw()
    names = (NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE, SYSTEM_JOURNAL_QUEUE)
    packets = [
        connection.send(peer.recoverable_message(destination=f"TCP:{sut.address}\\{name}", label=name))
        for name in names
    ]
    for name in names:
        judge.all(expected=Outcome.REFUSED, observed=sut.attempt("delete_queue", name=name), case=f"deletion of {name}")
        delivery = "transactional" if name == TRANSACTIONAL_DEAD_LETTER_QUEUE else "recoverable"
        sut.attempt(sut.send, sut.direct_name(name), body=name, delivery=delivery)
    peer.settle()
    for name in names:
        observed = [one["label"] or one["body"] for one in sut.read_kept_messages(name)]
        judge.all(expected=in_queue(), observed=observed, case=name, evidence=packets)


@needs("send", "receive", "queue_control")
@covers(
    "MQSO-3.3.4.5-D05",
    "MQSO-4.3.1.2-04",
    "MQSO-5.1.1.2-D12",
    "MQSO-5.1.1.2-D13",
    "MQSO-5.1.1.3-D02",
    "MQSO-5.1.1.3-D08",
)
@varied("response queue", "trace", priority=("3", "0"))
def test_journaling_requests_decide_dead_letters_and_journal(peer, sut, judge):
    """Of fifteen messages that expire unsent, only those with negative journaling become dead letters; the
    transactional dead-letter queue contains only transactional messages. Two messages that expire in their queue are
    removed. Of three delivered messages, only those with positive journaling are in the journal.
    """
    to = peer.direct_name("mqc-kept")
    began_ms = peer.recorder.elapsed_ms()
    for delivery in ("express", "recoverable", "transactional"):
        for journal in ([], ["positive"], ["negative"]):
            label = " ".join([delivery, *journal])
            sut.send(
                to, label=label, delivery=delivery, body=label, journal=journal, time_to_reach_queue_s=SHORT_LIFETIME_S
            )

    lived = peer.direct_name("mqc-lived")
    for delivery in ("express", "recoverable", "transactional"):
        for journal in ([], ["negative"]):
            label = " ".join(["lived", delivery, *journal])
            sut.send(
                lived, label=label, delivery=delivery, body=label, journal=journal,
                time_to_be_received_s=SHORT_LIFETIME_S,
            )  # fmt: skip

    def list_labels_in_system_queues(*names: str) -> list[list[str]]:
        return [sorted(one["label"] for one in sut.read_kept_messages(name)) for name in names]

    queue = sut.new_queue("expiring")
    sut.send_here(queue, ["not received", "nor this"], time_to_be_received_s=SHORT_LIFETIME_S)
    ordered = sut.new_queue("expiring-in-transactions", transactional=True)
    life = {"delivery": "transactional", "time_to_be_received_s": SHORT_LIFETIME_S}
    sut.send_here(ordered, ["locked at its expiry", "not received"], **life)
    transaction = sut.control.call("begin")["transaction"] if sut.has("transactions") else None
    if transaction is not None:
        sut.control.call("receive", queue=ordered, transaction=transaction, timeout_ms=0)
    waiting = sut.outgoing_queue(to)["count"]
    if peer.measure_duration(began_ms).ms < (SHORT_LIFETIME_S - 1) * 1_000:  # else none need wait any more
        judge("MQSO-5.1.1.3-D02", expected=9, observed=waiting, case="messages in the outgoing queue")
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    plain = ["express negative", "lived express negative", "lived recoverable negative", "recoverable negative"]
    expected = [plain, ["lived transactional negative", "transactional negative"]]
    peer.eventually(
        lambda: (
            list_labels_in_system_queues(NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE)
            == expected
        )
    )
    dead = list_labels_in_system_queues(NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE)
    that_asked = [[label for label in labels if label.endswith("negative")] for labels in dead]
    judge(
        "MQSO-3.3.4.5-D05",
        "MQSO-4.3.1.2-04",
        expected=expected,
        observed=that_asked,
        case="labels in each dead-letter queue",
    )
    judge(
        "MQSO-5.1.1.2-D13",
        "MQSO-5.1.1.3-D02",
        "MQSO-5.1.1.3-D08",
        expected=expected,
        observed=dead,
        case="labels in each dead-letter queue",
    )
    judge(
        "MQSO-5.1.1.3-D02",
        expected=[0, 0],
        observed=[sut.outgoing_queue(name)["count"] for name in (to, lived)],
        case="number of messages in the outgoing queues",
    )
    judge("MQSO-5.1.1.3-D02", expected=in_queue(), observed=sut.labels(queue))
    if transaction is not None:
        sut.control.call("abort", transaction=transaction)
        peer.eventually(lambda: not sut.labels(ordered))
    judge("MQSO-5.1.1.3-D02", expected=in_queue(), observed=sut.labels(ordered), case="transactional queue")
    sender = Sender(peer, sut, to)
    answers = peer.direct_name("mqc-answers")
    sender.send(1, delivery="recoverable", label="journaled", journal=["positive"], priority=5, response_queue=answers)
    sender.send(2, delivery="recoverable", label="not journaled")
    sender.send(3, delivery="express", label="journaled express", journal=["positive"])
    session, frames = sender.await_first_messages(3)
    session.acknowledge_all()
    peer.eventually(lambda: list_labels_in_system_queues(SYSTEM_JOURNAL_QUEUE) == [["journaled", "journaled express"]])
    judge(
        "MQSO-5.1.1.2-D12",
        expected=[["journaled", "journaled express"]],
        observed=list_labels_in_system_queues(SYSTEM_JOURNAL_QUEUE),
        evidence=frames,
        case="labels in the journal",
    )
    wanted = {"application_tag": 1, "body": "message 1", "priority": 5, "response_queue": answers}
    kept: dict[str, Any] = next(
        (one for one in sut.read_kept_messages(SYSTEM_JOURNAL_QUEUE) if one["label"] == "journaled"), {}
    )
    shown = {name: value for name, value in wanted.items() if name in kept}
    judge("MQSO-5.1.1.2-D12", expected=shown, observed={name: kept[name] for name in shown}, evidence=frames)


@needs("send", "receive", "queue_control", "restart")
@covers("MQSO-3.2.1-D02", "MQSO-5.1.1.2-D13", "MQSO-5.1.1.3-D02")
def test_dead_letters_after_restart_are_in_queues_of_their_kinds(peer, sut, judge):
    """After a restart, a recoverable and a transactional message with negative journaling expire. Each becomes a dead
    letter in the dead-letter queue of its kind, and is still there after a further restart.
    """
    if not find_release(sut).keeps_undeliverable_messages:
        raise LackedByRelease("the SUT has no dead-letter queues (MS-MQMQ <3>)")
    to = peer.direct_name("mqc-late")
    life_s = 2 * SHORT_LIFETIME_S
    for delivery in ("recoverable", "transactional"):
        sut.send(
            to,
            label=delivery,
            body=delivery,
            delivery=delivery,
            journal=["negative"],
            time_to_reach_queue_s=life_s,
        )
    sut.restart()
    peer.pass_time((life_s + 1) * 1_000)
    sender = Sender(peer, sut, to)
    session = sender.poll_session(sut.connect_timeout_ms)
    evidence = [] if session is None else session.messages

    def list_labels_in_system_queues() -> list[list[str]]:
        return [
            [one["label"] for one in sut.read_kept_messages(name)]
            for name in (NONTRANSACTIONAL_DEAD_LETTER_QUEUE, TRANSACTIONAL_DEAD_LETTER_QUEUE)
        ]

    expected = [["recoverable"], ["transactional"]]
    peer.eventually(lambda: list_labels_in_system_queues() == expected)
    for time in ("before", "after"):
        judge.all(
            expected=expected,
            observed=list_labels_in_system_queues(),
            case=f"labels in each dead-letter queue {time} the last restart",
            evidence=evidence,
        )
        if time == "before":
            peer.settle()
            sut.restart()


@covers("MQSO-5.1.1.2-D14")
@varied("queue journaling", "queue quota", "queue privacy")
def test_order_ack_is_sent_to_order_queue_of_sender(peer, sut, judge):
    """The acknowledgment of a transactional message from the peer is addressed to the peer's queue order_queue$."""
    receiver = Receiver(peer, sut)
    packet = receiver.send()
    ack = receiver.await_acknowledgment()
    queue = str(ack["UserHeader"].DestinationQueue.DirectFormatName).lower()
    expected = rf"tcp:{peer.address}\{ORDER_QUEUE_PATH}".lower()
    judge(
        "MQSO-5.1.1.2-D14",
        expected=expected,
        observed=queue,
        evidence=[packet, ack],
        case="destination of the OrderAck",
    )


@needs("send", "receive", "transactions")
@covers("MQSO-4.3.1.2-04")
def test_message_that_expires_before_commit_is_dead_letter(peer, sut, judge):
    """Two messages to the peer are sent in a transaction and expire before the commit. The message with negative
    journaling is in the transactional dead-letter queue; the other message is not.
    """
    to = peer.direct_name("mqc-late")
    transaction = sut.control.call("begin")["transaction"]
    for label, journal in (("journaled", ["negative"]), ("not journaled", [])):
        sut.send(
            to,
            label=label,
            body=label,
            transaction=transaction,
            journal=journal,
            time_to_reach_queue_s=SHORT_LIFETIME_S,
        )
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    sut.control.call("commit", transaction=transaction)
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)

    def list_dead_letter_labels():
        return [one["label"] for one in sut.kept(TRANSACTIONAL_DEAD_LETTER_QUEUE)]

    peer.eventually(lambda: bool(list_dead_letter_labels()))
    judge("MQSO-4.3.1.2-04", expected=in_queue("journaled"), observed=list_dead_letter_labels())
