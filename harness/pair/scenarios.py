"""Define the scenarios of a pair. An application of the origin sends messages, and the control channels of both
systems report the outcome. Labels identify the messages; each label is unique in its scenario and direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.pair.outcomes import (
    ScenarioOutcome,
    ScenarioResult,
    compare_messages,
    judge_received_acknowledgment_classes,
)
from harness.pair.systems import PairOfSystems, PairSystem

MESSAGES_PER_SCENARIO = 3
LARGE_MESSAGE_BODY = "x" * 3_000_000
"""int bytes: the size of a body that nearly fills the largest packet (4 MiB)."""
MAX_QUEUE_POLLS = 40
MAX_ADMIN_MESSAGES = 1_000

RunScenario = Callable[[PairOfSystems, PairSystem, PairSystem], ScenarioOutcome]
"""The type of functions that carry out a scenario, with the pair, the origin and the target as arguments."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario. It names the facilities that the control channels of origin and target must have, and the
    capabilities that their SUT files must declare.
    """

    name: str
    letter: str
    """The letter that stands for the scenario in a grid."""
    says: str
    origin: tuple[str, ...]
    target: tuple[str, ...]
    run: RunScenario


def _list_numbered_labels(name: str, number: int = MESSAGES_PER_SCENARIO) -> list[str]:
    return [f"{name} {index}" for index in range(1, number + 1)]


def _send_all_messages(
    origin: PairSystem, target: PairSystem, queue: str, labels: Sequence[str], **fields: Any
) -> None:
    for label in labels:
        origin.sut.send(target.direct_name(queue), label=label, **{"body": label, **fields})


def _await_labels(pair: PairOfSystems, side: PairSystem, queue: str, number: int) -> list[str]:
    """Read the labels of the messages in a queue until the expected number of messages has arrived. After a silence
    window, read the labels once more to detect repeated messages.
    """
    limit_ms = side.sut.response_timeout_ms
    for _ in range(MAX_QUEUE_POLLS):
        if len(side.sut.labels(queue)) >= number:
            break
        pair.environment.run_until(lambda: False, max(1, limit_ms // MAX_QUEUE_POLLS))
    pair.environment.run_until(lambda: False, side.sut.quiet_ms)
    return side.sut.labels(queue)


def _deliver_messages(
    name: str, number: int = MESSAGES_PER_SCENARIO, *, transactional: bool = False, **fields: Any
) -> RunScenario:
    def deliver(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
        queue = target.sut.queue("transactional" if transactional else "plain")
        labels = _list_numbered_labels(name, number)
        _send_all_messages(origin, target, queue, labels, **fields)
        return compare_messages(labels, _await_labels(pair, target, queue, len(labels)), in_order=True)

    return deliver


def _request_acknowledgments(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
    """Send two messages whose arrival and receipt must be acknowledged in an administration queue of the origin."""
    queue, admin = target.sut.queue("plain"), origin.sut.queue("admin")
    fields = {"acks": ["positive_arrival", "positive_receive"], "admin_queue": origin.direct_name(admin)}
    _send_all_messages(origin, target, queue, _list_numbered_labels("acknowledged", 2), **fields)
    _await_labels(pair, target, queue, 2)
    for _ in range(2):
        target.sut.control.call("receive", queue=queue, timeout_ms=0)
    return judge_received_acknowledgment_classes(
        ["MQMSG_CLASS_ACK_REACH_QUEUE", "MQMSG_CLASS_ACK_RECEIVE"] * 2,
        _await_acknowledgment_classes(pair, origin, admin, 4),
    )


def _send_to_missing_queue(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
    """Send a message to a missing queue. The origin must receive either a negative acknowledgment or no
    acknowledgment. An unsigned message gets no acknowledgment while SendInsecureNacks is FALSE (MS-MQQB 3.1.5.8.3).
    """
    admin = origin.sut.queue("admin")
    fields = {"acks": ["negative_arrival"], "admin_queue": origin.direct_name(admin)}
    _send_all_messages(
        origin, target, f"private$\\mqc-{origin.sut.own}-missing", _list_numbered_labels("refused", 1), **fields
    )
    classes = _await_acknowledgment_classes(pair, origin, admin, 1)
    return judge_received_acknowledgment_classes(["MQMSG_CLASS_NACK_BAD_DST_Q"] if classes else [], classes)


def _await_acknowledgment_classes(pair: PairOfSystems, side: PairSystem, queue: str, number: int) -> list[str]:
    _await_labels(pair, side, queue, number)
    found = side.sut.control.call("peek", queue=queue, limit=MAX_ADMIN_MESSAGES)["messages"]
    return [str(one["class"]) for one in found]


def _send_over_outage(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
    """Send messages while the network is interrupted. After the network is restored, each message must arrive once, in
    the order of sending.
    """
    queue = target.sut.queue("plain")
    labels = _list_numbered_labels("over an outage", 2 * MESSAGES_PER_SCENARIO)
    _send_all_messages(origin, target, queue, labels[:MESSAGES_PER_SCENARIO], delivery="recoverable")
    pair.interrupt_network()
    _send_all_messages(origin, target, queue, labels[MESSAGES_PER_SCENARIO:], delivery="recoverable")
    pair.environment.run_until(lambda: False, target.sut.quiet_ms)
    pair.restore_connections()
    return compare_messages(labels, _await_after_outage(pair, target, queue, len(labels)), in_order=True)


def _send_over_restart(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
    """Restart the target. Recoverable messages are sent before and after the restart. Afterwards, the queue must
    contain each message once, in the order of sending.
    """
    queue = target.sut.queue("plain")
    labels = _list_numbered_labels("over a restart", 2 * MESSAGES_PER_SCENARIO)
    _send_all_messages(origin, target, queue, labels[:MESSAGES_PER_SCENARIO], delivery="recoverable")
    _await_labels(pair, target, queue, MESSAGES_PER_SCENARIO)
    target.sut.restart()
    _send_all_messages(origin, target, queue, labels[MESSAGES_PER_SCENARIO:], delivery="recoverable")
    return compare_messages(labels, _await_after_outage(pair, target, queue, len(labels)), in_order=True)


def _await_after_outage(pair: PairOfSystems, side: PairSystem, queue: str, number: int) -> list[str]:
    """Wait until the messages that were sent during an outage have arrived. The limit is several times the duration
    after which a queue manager connects again.
    """
    for _ in range(MAX_QUEUE_POLLS):
        if len(side.sut.labels(queue)) >= number:
            break
        pair.environment.run_until(lambda: False, max(1, side.sut.connect_timeout_ms // MAX_QUEUE_POLLS))
    return _await_labels(pair, side, queue, number)


def _receive_from_remote_queue(pair: PairOfSystems, origin: PairSystem, target: PairSystem) -> ScenarioOutcome:
    """Send messages, and receive them at the origin from the target's queue. Each message must be received once, in the
    order of sending. The queue must then be empty.
    """
    queue = target.sut.queue("plain")
    labels = _list_numbered_labels("read remotely")
    _send_all_messages(origin, target, queue, labels)
    _await_labels(pair, target, queue, len(labels))
    call = origin.sut.control.call
    remote = call("remote_open", queue=target.direct_host_name(queue), access="receive")["remote"]
    received = [call("remote_receive", remote=remote, timeout_ms=0)["message"] for _ in range(len(labels) + 1)]
    call("remote_close", remote=remote)
    read = [str(one["label"]) for one in received if one is not None]
    outcome = compare_messages(labels, read, in_order=True)
    left = target.sut.labels(queue)
    return (
        ScenarioOutcome(ScenarioResult.FAIL, f"left in the queue: {', '.join(left)}")
        if left and not outcome.why
        else outcome
    )


SEND_FACILITIES, RECEIVE_FACILITIES = ("send",), ("receive",)
SCENARIOS = (
    Scenario(
        "express", "E", "three express messages", SEND_FACILITIES, RECEIVE_FACILITIES, _deliver_messages("express")
    ),
    Scenario(
        "recoverable",
        "R",
        "three recoverable messages",
        SEND_FACILITIES,
        RECEIVE_FACILITIES,
        _deliver_messages("recoverable", delivery="recoverable"),
    ),
    Scenario(
        "transactional",
        "T",
        "three transactional messages with order acknowledgments",
        SEND_FACILITIES,
        RECEIVE_FACILITIES,
        _deliver_messages("transactional", transactional=True, delivery="transactional"),
    ),
    Scenario(
        "large",
        "L",
        "a message of 3 MB",
        SEND_FACILITIES,
        RECEIVE_FACILITIES,
        _deliver_messages("large", 1, delivery="recoverable", body=LARGE_MESSAGE_BODY),
    ),
    Scenario(
        "acknowledgments",
        "A",
        "positive acknowledgments",
        ("send", "receive"),
        RECEIVE_FACILITIES,
        _request_acknowledgments,
    ),
    Scenario("refusal", "N", "a message to a missing queue", ("send", "receive"), (), _send_to_missing_queue),
    Scenario(
        "lost connection", "C", "an outage of the network", SEND_FACILITIES, RECEIVE_FACILITIES, _send_over_outage
    ),
    Scenario("restart", "S", "a restart of the target", SEND_FACILITIES, ("receive", "restart"), _send_over_restart),
    Scenario(
        "remote reading",
        "M",
        "messages that the origin receives from the target's queue",
        ("send", "remote_read"),
        ("receive", "qm2qm"),
        _receive_from_remote_queue,
    ),
)


def find_missing_facilities(scenario: Scenario, origin: PairSystem, target: PairSystem) -> ScenarioOutcome | None:
    """Return the outcome ``unsupported``, with the missing facilities and capabilities, or None if the scenario can
    run.
    """
    parts = [
        f"{side.role} lacks {', '.join(lacking)}"
        for side, needs in ((origin, scenario.origin), (target, scenario.target))
        if (lacking := [need for need in needs if not side.sut.has(need)])
    ]
    return ScenarioOutcome(ScenarioResult.UNSUPPORTED, "; ".join(parts)) if parts else None
