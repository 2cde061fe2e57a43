"""MS-MQMQ 2.2.19.2 UserHeader, DM: recoverable messages survive a restart."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, facts, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.releases import LackedByRelease, find_release
from harness.sut.shown import lookup_id
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.secured import SecuredMessageSender, sign_message
from suites.mqqb.steps.sender import Sender

NO_MESSAGE_CHANGED_OUTCOME = none("changed message")
SHORT_LIFETIME_S = 2
LONGER_LIFETIME_S = 20
SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal")
PROPERTIES_OF_STORED_MESSAGE = {
    "priority": 5,
    "application_tag": 0x0A0B_0C0D,
    "acks": ["positive_receive"],
    "time_to_be_received_s": 86_400,
}


def _peek_messages(sut, queue):
    return list(sut.control.call("peek", queue=queue, limit=1_000)["messages"])


def _list_labels_in_queue(sut, queue):
    return [one["label"] for one in _peek_messages(sut, queue)]


def _list_changed_properties(before, after):
    """Return the properties that differ between two lists of a queue's messages; if the labels differ, return only the
    labels.
    """
    before, after = list(before), list(after)
    labels = [[one["label"] for one in messages] for messages in (before, after)]
    if labels[0] != labels[1]:
        return [f"{labels[1]} for {labels[0]}"]
    return [
        f"{one['label']}: {name} {str(other.get(name))[:60]} for {str(value)[:60]}"
        for one, other in zip(before, after, strict=True)
        for name, value in one.items()
        if other.get(name) != value
    ]


def _list_changes_in_queue(sut, queue, before):
    """Return the properties that differ between the messages in a queue and the given earlier messages. If the queue is
    missing, return a text that says so.
    """
    try:
        return _list_changed_properties(before, _peek_messages(sut, queue))
    except ControlRefused as refused:
        return [f"the queue is missing: {refused}"]


def _receive_by_label(sut, queue, label, **arguments):
    """Let an application receive the message that has the given label."""
    one = next(one for one in _peek_messages(sut, queue) if one["label"] == label)
    sut.control.call("receive_by_lookup_id", queue=queue, lookup_id=lookup_id(one), seek="current", **arguments)


@needs("restart", "receive", "queues")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQDMPR-3.1.1.11-07")
def test_messages_order_and_journal_survive_two_restarts(peer, sut, judge):
    """Messages of several priorities and sequences arrive, and an application receives some of them. After each of two
    restarts, the remaining messages and the journal are unchanged. A new message is placed by its priority, and lookup
    identifiers still find messages.
    """
    queue, receiver = sut.queue(), Receiver(peer, sut)
    other = sut.new_queue("other", journaling=True)
    journal = f"{other};journal"
    connection = receiver.session
    sent = [
        connection.send(
            peer.recoverable_message(label=f"message {number} of priority {priority}", base={"PR": priority})
        )
        for number, priority in enumerate((3, 0, 7, 3, 7))
    ]
    for label in ("first", "second", "other"):
        packet = peer.recoverable_message(
            label=label, destination=f"TCP:{sut.address}\\{other}", body=bytes(range(256)) * 500
        )
        sent.append(connection.send(packet))
    sent += [receiver.send(label=f"{number} in sequence") for number in (1, 2, 3)]
    queues = {queue: 5, sut.queue("transactional"): 3, other: 3}
    if not peer.eventually(lambda: all(len(_peek_messages(sut, name)) == count for name, count in queues.items())):
        raise ConformanceFailure("the messages did not arrive in their queues")
    _receive_by_label(sut, queue, "message 3 of priority 3")
    for name in (sut.queue("transactional"), other, other):
        sut.control.call("receive", queue=name, timeout_ms=0)
    before = {name: _peek_messages(sut, name) for name in (*queues, journal)}
    for time in ("first", "second"):
        sut.restart()
        for name, messages in before.items():
            changes, case = _list_changes_in_queue(sut, name, messages), f"{name} after the {time} restart"
            judge.all(expected=NO_MESSAGE_CHANGED_OUTCOME, observed=changes, case=case, evidence=sent)
    last = peer.open_raw()
    sent.append(last.send(peer.recoverable_message(label="new", base={"PR": 3})))
    peer.eventually(lambda: "new" in _list_labels_in_queue(sut, queue))
    labels = [
        "message 2 of priority 7",
        "message 4 of priority 7",
        "message 0 of priority 3",
        "new",
        "message 1 of priority 0",
    ]
    judge(
        "MQMQ-2.2.19.2-11",
        "MQDMPR-3.1.1.12-67",
        "MQDMPR-3.1.1.12-20",
        expected=labels,
        case="labels in the queue",
        observed=_list_labels_in_queue(sut, queue),
        evidence=sent,
    )
    _receive_by_label(sut, queue, "message 4 of priority 7")
    labels.remove("message 4 of priority 7")
    judge(
        "MQMQ-2.2.19.2-11",
        "MQDMPR-3.1.1.12-67",
        "MQDMPR-3.1.1.12-20",
        expected=labels,
        case="labels in the queue",
        observed=_list_labels_in_queue(sut, queue),
        evidence=sent,
    )


@needs("restart", "send", "receive", "queues")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
@varied("acknowledgments", "application tag", "queue journaling", "queue quota", "queue privacy")
def test_local_messages_survive_restart(peer, sut, judge, delivery):
    """Applications send messages to a queue of the SUT, and one message is received. After a restart the remaining
    messages are unchanged.
    """
    kind = "transactional" if delivery == "transactional" else "plain"
    queue, to = sut.queue(kind), sut.format_name(kind)
    queues = {"admin_queue": sut.format_name("admin"), "response_queue": sut.format_name("plain")}
    for label, fields in (
        ("empty", {"body": ""}),
        ("received", {"body": "received"}),
        ("full", {"body": "full", **PROPERTIES_OF_STORED_MESSAGE, **queues}),
        ("last", {"body": "x" * 10_000}),
    ):
        sut.send(to, label=label, delivery=delivery, **fields)
    _receive_by_label(sut, queue, "received")
    before = _peek_messages(sut, queue)
    if sorted(one["label"] for one in before) != ["empty", "full", "last"]:
        raise ConformanceFailure(
            f"the queue contains the messages {[one['label'] for one in before]} instead of 'empty', 'full' and 'last'"
        )
    sut.restart()
    judge.all(
        expected=NO_MESSAGE_CHANGED_OUTCOME,
        observed=_list_changes_in_queue(sut, queue, before),
        case="queue after the restart",
    )


@needs("restart", "send", "receive", "queues", "transactions")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQDMPR-3.1.3-D16")
@varied("time to reach queue", "queue quota", acknowledgments=("none", "of receipt"))
def test_ended_and_open_transactions_survive_restart(peer, sut, judge):
    """Transactions that send and receive messages are committed, aborted or left open, and some of the messages are
    purged. After a restart, the queue contains the messages that committed transactions sent and the messages that
    aborted and open transactions received, but no purged message.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    for prepared in (False, True):
        for outcome in ("commit", "abort"):
            sut.send(to, label=f"{outcome} after a purge", body="purged", delivery="transactional")
            transaction = sut.control.call("begin", external=prepared)["transaction"]
            _receive_by_label(sut, queue, f"{outcome} after a purge", transaction=transaction)
            if prepared:
                sut.control.call("prepare", transaction=transaction)
            sut.control.call("purge", queue=queue)
            sut.control.call(outcome, transaction=transaction)
    for label in (
        "received in committed transaction",
        "received in aborted transaction",
        "received in open transaction",
        "not received",
    ):
        sut.send(to, label=label, body=label, delivery="transactional")
    begun = {name: sut.control.call("begin")["transaction"] for name in ("committed", "aborted", "open")}
    for name in begun:
        _receive_by_label(sut, queue, f"received in {name} transaction", transaction=begun[name])
        for label in (f"sent first in {name} transaction", f"sent last in {name} transaction"):
            sut.send(to, label=label, body=name, transaction=begun[name])
    sut.control.call("commit", transaction=begun["committed"])
    sut.control.call("abort", transaction=begun["aborted"])
    sut.restart()
    expected = any_order(
        "received in open transaction",
        "received in aborted transaction",
        "sent first in committed transaction",
        "sent last in committed transaction",
        "not received",
    )
    peer.eventually(lambda: expected.compare(_list_labels_in_queue(sut, queue)) is None)
    judge.all(expected=expected, case="labels in the queue", observed=_list_labels_in_queue(sut, queue))


@needs("restart", "send", "receive", "queues", "transactions")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQDMPR-3.1.3-D15")
@varied("acknowledgments", "response queue", "time to be received", "time to reach queue", "application tag")
def test_prepared_transactions_survive_restart(peer, sut, judge):
    """Two prepared transactions each sent and received two messages. After a restart, one of them is committed, and the
    other is aborted. The queue contains the messages that the committed transaction sent and the messages that the
    aborted transaction received, but not the messages that the committed transaction received. A second restart changes
    nothing.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    received = [f"received {which} in {name}" for name in ("commit", "abort") for which in ("first", "last")]
    for label in (*received, "not received"):
        sut.send(to, label=label, body=label, delivery="transactional")
    begun = {name: sut.control.call("begin", external=True)["transaction"] for name in ("commit", "abort")}
    for name in begun:
        for which in ("first", "last"):
            _receive_by_label(sut, queue, f"received {which} in {name}", transaction=begun[name])
        for label in (f"sent first in {name}", f"sent last in {name}"):
            sut.send(to, label=label, body=name, transaction=begun[name])
        sut.control.call("prepare", transaction=begun[name])
    sut.restart()
    for name, transaction in begun.items():
        sut.control.call(name, transaction=transaction)
    expected = any_order("sent first in commit", "sent last in commit", "not received", *received[2:])
    peer.eventually(lambda: expected.compare(_list_labels_in_queue(sut, queue)) is None)
    judge.all(expected=expected, case="labels in the queue", observed=_list_labels_in_queue(sut, queue))
    sut.restart()
    judge(
        "MQMQ-2.2.19.2-11",
        "MQDMPR-3.1.1.12-67",
        "MQDMPR-3.1.1.12-20",
        expected=expected,
        case="labels in the queue after a second restart",
        observed=_list_labels_in_queue(sut, queue),
    )


@needs("restart", "send", "receive", "queue_control", "transactions", "subqueues")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20")
@varied("positive journaling", "negative journaling")
def test_moved_messages_survive_restart(peer, sut, judge):
    """Messages are moved to a subqueue without a transaction, and in transactions that are committed, prepared, aborted
    or left open. The prepared transaction is committed after the restart. The subqueue then contains the messages that
    were moved without a transaction, in the committed transaction and in the prepared transaction. The messages of the
    aborted and of the open transaction are in the main queue.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    subqueue = f"{queue};mqc-moved"
    sut.control.call("create_queue", name=subqueue, transactional=True)
    for label in ("alone", "committed", "aborted", "prepared", "open", "not moved"):
        sut.send(to, label=label, body=label, delivery="transactional")
    begun = {
        name: {"transaction": sut.control.call("begin")["transaction"]} for name in ("committed", "aborted", "open")
    }
    begun["prepared"] = {"transaction": sut.control.call("begin", external=True)["transaction"]}
    for one in _peek_messages(sut, queue):
        if one["label"] != "not moved":
            more = begun.get(one["label"], {})
            sut.control.call("move", queue=queue, lookup_id=lookup_id(one), to=subqueue, **more)
    sut.control.call("commit", **begun["committed"])
    sut.control.call("abort", **begun["aborted"])
    sut.control.call("prepare", **begun["prepared"])
    before = _peek_messages(sut, subqueue)
    sut.restart()
    judge.all(
        expected=NO_MESSAGE_CHANGED_OUTCOME,
        observed=_list_changes_in_queue(sut, subqueue, before),
        case="subqueue after the restart",
    )
    sut.control.call("commit", **begun["prepared"])
    expected = facts(
        queue=any_order("aborted", "open", "not moved"), subqueue=any_order("alone", "committed", "prepared")
    )

    def list_labels_in_all_queues():
        return {"queue": _list_labels_in_queue(sut, queue), "subqueue": _list_labels_in_queue(sut, subqueue)}

    peer.eventually(lambda: expected.compare(list_labels_in_all_queues()) is None)
    judge.all(expected=expected, observed=list_labels_in_all_queues())


@needs("restart", "send", "receive", "queues")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20")
@varied("queue journaling", "queue quota", priority=("3", "7"))
def test_dead_letters_and_journaled_messages_survive_restart(peer, sut, judge):
    """The system queues contain expired messages, a message that exceeded a quota, and a journaled message.
    After a restart, these queues are unchanged.
    """
    if not find_release(sut).keeps_undeliverable_messages:
        raise LackedByRelease("the SUT has no dead-letter queues (MS-MQMQ <3>)")
    full = sut.new_queue("full", quota_kb=1)
    other = peer.open_raw()
    other.send(
        peer.recoverable_message(
            {"JN": 1}, destination=rf"TCP:{sut.address}\{full}", label="beyond the quota", body=bytes(5_000)
        )
    )
    other.require_session_ack_for_message()
    other.close()  # the SUT might send the expiring messages on it (E16)
    to = peer.direct_name("mqc-kept")
    for delivery in ("recoverable", "transactional"):
        sut.send(
            to,
            label=delivery,
            delivery=delivery,
            body="expires",
            journal=["negative"],
            time_to_reach_queue_s=SHORT_LIFETIME_S,
        )
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    sender = Sender(peer, sut, to)
    sender.send(1, delivery="recoverable", journal=["positive"])
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()

    def list_kept_messages():
        return {name: sut.kept(name) for name in SYSTEM_QUEUES}

    peer.eventually(lambda: all(list_kept_messages().values()) and len(list_kept_messages()[SYSTEM_QUEUES[0]]) == 2)
    before = list_kept_messages()
    if not all(before.values()):
        raise ConformanceFailure(f"no message is in {', '.join(name for name, found in before.items() if not found)}")
    sut.restart()
    for name, messages in list_kept_messages().items():
        judge.all(
            expected=NO_MESSAGE_CHANGED_OUTCOME,
            observed=_list_changed_properties(before[name], messages),
            case=f"{name} after a restart",
            evidence=frames,
        )


@needs("restart", "send", "receive", "queue_control")
@covers("MQDMPR-3.1.1.12-67")
def test_name_of_dead_letter_queue_survives_restart(peer, sut, judge):
    """Two transactional messages that name a dead-letter queue wait to be sent. One expires before a restart, and the
    other after it. Both are then in the named queue. Erratum E111 leaves open which dead-letter queue stores
    nontransactional messages.
    """
    if not find_release(sut).keeps_undeliverable_messages:
        raise LackedByRelease("the SUT has no dead-letter queues (MS-MQMQ <3>)")
    own = sut.new_queue("dead", transactional=True)
    fields = {"delivery": "transactional", "journal": ["negative"], "dead_letter_queue": own}

    def send_message_with_lifetime(label, time_s):
        to = peer.direct_name("mqc-late")
        sut.attempt(sut.send, to, label=label, body=label, time_to_reach_queue_s=time_s, **fields)

    send_message_with_lifetime("first", SHORT_LIFETIME_S)
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    if not peer.eventually(lambda: _list_labels_in_queue(sut, own) == ["first"]):
        reason = "the SUT puts no dead letter into the queue that the message names"
        judge.mark_not_exercised("MQDMPR-3.1.1.12-67", reason=reason)
        return
    send_message_with_lifetime("second", LONGER_LIFETIME_S)
    sut.restart()
    peer.pass_time((LONGER_LIFETIME_S + 1) * 1_000)
    peer.eventually(lambda: "second" in _list_labels_in_queue(sut, own))
    judge(
        "MQDMPR-3.1.1.12-67",
        expected=["first", "second"],
        case="labels in the dead-letter queue",
        observed=_list_labels_in_queue(sut, own),
    )


@needs("restart", "receive", "security")
@covers("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20")
def test_signed_and_unsigned_messages_survive_restart(peer, sut, judge):
    """A signed and an unsigned message are in the queue.
    After a restart, both are unchanged, including the result of their authentication.
    """
    secured = SecuredMessageSender(peer, sut)
    packets = {"plain": secured.message(header={"DM": 1}), "signed": sign_message(secured.message(header={"DM": 1}))}
    found = secured.send_and_read_dispositions(packets)
    before = sut.messages()
    if not before:
        raise ConformanceFailure("no message arrived in the queue")
    sut.restart()
    evidence = [frame for one in found.values() for frame in one.frames]
    judge.all(
        expected=NO_MESSAGE_CHANGED_OUTCOME,
        observed=_list_changed_properties(before, sut.messages()),
        evidence=evidence,
        case="queue after the restart",
    )
