"""MS-MQMQ 2.2.19.2 UserHeader, DM: what is in the queues of a queue manager that was restarted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.messages import recoverable_message
from suites.mqqb.steps.opening import opened
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.sender import eventually

AS_IT_WAS = "as it was"
PROPERTIES: Mapping[str, Any] = {
    "priority": 5,
    "application_tag": 0x0A0B_0C0D,
    "acks": ["positive_receive"],
    "time_to_be_received_s": 86_400,
}


def _held(sut: Sut, queue: str) -> list[dict[str, Any]]:
    return list(sut.control.call("peek", queue=queue, limit=1_000)["messages"])


def _labels(sut: Sut, queue: str) -> list[str]:
    return [str(one["label"]) for one in _held(sut, queue)]


def _changed(before: Iterable[dict[str, Any]], after: Iterable[dict[str, Any]]) -> str:
    """Say in one line what of the messages in a queue is not as it was."""
    before, after = list(before), list(after)
    labels = [[one["label"] for one in messages] for messages in (before, after)]
    if labels[0] != labels[1]:
        return f"{labels[1]} for {labels[0]}"
    wrong = [
        f"{one['label']}: {name} {str(other.get(name))[:60]} for {str(value)[:60]}"
        for one, other in zip(before, after, strict=True)
        for name, value in one.items()
        if other.get(name) != value
    ]
    return "; ".join(wrong) or AS_IT_WAS


def _taken(sut: Sut, queue: str, label: str, **arguments: Any) -> None:
    """Let an application take a message by its label."""
    one = next(one for one in _held(sut, queue) if one["label"] == label)
    sut.control.call("receive_by_lookup_id", queue=queue, lookup_id=one["lookup_id"], seek="current", **arguments)


@needs("restart", "receive", "queue_control")
@covers("MQMQ-2.2.19.2-11")
def test_a_queue_goes_on_after_a_restart_with_what_was_in_it(peer, sut, judge):
    """Messages of several priorities, of which one was taken: the others are there, as they were, after each of two
    restarts, found by their lookup identifiers, and those that come then are behind them.
    """
    queue, receiver = sut.queue(), Receiver(peer, sut)
    other = sut.new_queue("beside")
    connection = receiver.connections[0]
    sent = [
        connection.send(recoverable_message(peer, label=f"{number} of priority {priority}", base={"PR": priority}))
        for number, priority in enumerate((3, 0, 7, 3, 7))
    ]
    beside = recoverable_message(peer, label="beside", destination=f"TCP:{sut.address}\\{other}")
    sent.append(connection.send(beside))
    sent += [receiver.send(label=f"{number} in sequence") for number in (1, 2, 3)]
    queues = {queue: 5, sut.queue("transactional"): 3, other: 1}
    if not eventually(peer, lambda: all(len(_held(sut, name)) == count for name, count in queues.items())):
        raise ConformanceFailure("the messages did not come into their queues")
    _taken(sut, queue, "3 of priority 3")
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0)
    before = {name: _held(sut, name) for name in queues}
    for time in ("first", "second"):
        sut.restart()
        for name, messages in before.items():
            observed = f"{_changed(messages, _held(sut, name))} after the {time} restart"
            expected = f"{AS_IT_WAS} after the {time} restart"
            judge("MQMQ-2.2.19.2-11", expected=expected, observed=observed, evidence=sent)
    last = opened(peer)
    sent.append(last.send(recoverable_message(peer, label="new", base={"PR": 3})))
    eventually(peer, lambda: "new" in _labels(sut, queue))
    labels = ["2 of priority 7", "4 of priority 7", "0 of priority 3", "new", "1 of priority 0"]
    judge("MQMQ-2.2.19.2-11", expected=labels, observed=_labels(sut, queue), evidence=sent)
    _taken(sut, queue, "4 of priority 7")
    labels.remove("4 of priority 7")
    judge("MQMQ-2.2.19.2-11", expected=labels, observed=_labels(sut, queue), evidence=sent)


@needs("restart", "send", "receive", "queue_control")
@covers("MQMQ-2.2.19.2-11")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_messages_of_applications_here_survive_a_restart(peer, sut, judge, delivery):
    """Messages that applications sent to a queue here are there as they were; one that was taken is not."""
    kind = "transactional" if delivery == "transactional" else "plain"
    queue, to = sut.queue(kind), sut.format_name(kind)
    queues = {"admin_queue": sut.format_name("admin"), "response_queue": sut.format_name("plain")}
    for label, fields in (
        ("bare", {"body": ""}),
        ("taken", {"body": "taken"}),
        ("full", {"body": "full", **PROPERTIES, **queues}),
        ("last", {"body": "x" * 10_000}),
    ):
        sut.send(to, label=label, delivery=delivery, **fields)
    _taken(sut, queue, "taken")
    before = _held(sut, queue)
    if sorted(one["label"] for one in before) != ["bare", "full", "last"]:
        raise ConformanceFailure(f"{[one['label'] for one in before]} are in the queue")
    sut.restart()
    judge("MQMQ-2.2.19.2-11", expected=AS_IT_WAS, observed=_changed(before, _held(sut, queue)))


@needs("restart", "send", "receive", "queue_control", "transactions")
@covers("MQMQ-2.2.19.2-11")
def test_what_transactions_did_and_did_not_do_stays_after_a_restart(peer, sut, judge):
    """What was sent and taken in transactions that were committed is there and gone; what was taken in one that was
    not, or that was aborted, is in its queue again; what was sent in one of those never is.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    for label in ("gone", "back", "again", "stays"):
        sut.send(to, label=label, body=label, delivery="transactional")
    begun = {name: sut.control.call("begin")["transaction"] for name in ("committed", "aborted", "open")}
    for taken, name in (("gone", "committed"), ("back", "aborted"), ("again", "open")):
        _taken(sut, queue, taken, transaction=begun[name])
        sut.send(to, label=f"sent in one {name}", body=name, transaction=begun[name])
    sut.control.call("commit", transaction=begun["committed"])
    sut.control.call("abort", transaction=begun["aborted"])
    sut.restart()
    expected = ["again", "back", "sent in one committed", "stays"]
    eventually(peer, lambda: sorted(_labels(sut, queue)) == expected)
    judge("MQMQ-2.2.19.2-11", expected=expected, observed=sorted(_labels(sut, queue)))


@needs("restart", "send", "receive", "queue_control", "transactions")
@covers("MQMQ-2.2.19.2-11")
def test_what_was_prepared_before_a_restart_is_decided_after_it(peer, sut, judge):
    """Of transactions that were prepared one is committed after a restart, the other aborted: what the one sent is in
    its queue, and what it took is not; what the other took is in its queue again.
    """
    queue, to = sut.queue("transactional"), sut.format_name("transactional")
    for label in ("taken for good", "taken for a time", "stays"):
        sut.send(to, label=label, body=label, delivery="transactional")
    begun = {name: sut.control.call("begin", external=True)["transaction"] for name in ("commit", "abort")}
    for taken, name in (("taken for good", "commit"), ("taken for a time", "abort")):
        _taken(sut, queue, taken, transaction=begun[name])
        sut.send(to, label=f"sent and {name}", body=name, transaction=begun[name])
        sut.control.call("prepare", transaction=begun[name])
    sut.restart()
    for name, transaction in begun.items():
        sut.control.call(name, transaction=transaction)
    expected = ["sent and commit", "stays", "taken for a time"]
    eventually(peer, lambda: sorted(_labels(sut, queue)) == expected)
    judge("MQMQ-2.2.19.2-11", expected=expected, observed=sorted(_labels(sut, queue)))
    sut.restart()
    judge("MQMQ-2.2.19.2-11", expected=expected, observed=sorted(_labels(sut, queue)))
