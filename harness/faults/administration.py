"""Faults of acknowledgments and reports. Spec: MS-MQQB 3.1.5.8.9, 3.1.5.8.10, 3.1.7.1.7, 3.1.7.2, 3.1.7.15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import during, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.own_messages import OwnMessages
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.tracing import Tracing
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

RULE, REMOVED, REMOVED_ADMIN = "MQQB-3.1.7.15-", "MQQB-3.1.7.2-", "MQQB-3.1.7.2.1-"
RECEIVED, SENT = "MQQB-3.1.5.8.9-", "MQQB-3.1.7.1.7-"
ELSEWHERE = "DIRECT=TCP:127.0.0.2\\private$\\mqc-elsewhere"
ON_SOURCE, ON_DESTINATION, PUBLIC, ON_OTHER, DIRECT = 2, 3, 5, 6, 7
EXPRESS, RECOVERABLE = DeliveryGuarantee.EXPRESS, DeliveryGuarantee.RECOVERABLE
Original = Callable[..., Any]


def _nothing(*arguments: Any) -> None:
    """Stand in for a procedure that is left out."""


def _made(change: Callable[[Message, Message], Message]) -> Install:
    """Change an acknowledgment that was made; ``change`` gets it and the message that it acknowledges."""

    def make(original: Original) -> Original:
        def build(qm: QueueManager, message: Message, message_class: MessageClass, now: Now) -> Message:
            return change(original(qm, message, message_class, now), message)

        return build

    return procedure(AdminAcks.build, make)


def _of(event: Method, change: Callable[[Message, Message], Message]) -> Install:
    """Change the acknowledgments that one event brings."""

    def make(original: Original, *_: Any) -> Original:
        def build(qm: QueueManager, message: Message, message_class: MessageClass, now: Now) -> Message:
            return change(original(qm, message, message_class, now), message)

        return build

    return during(event, AdminAcks.build, make)


def _always(event: Method) -> Install:
    """Acknowledge whether it was asked for or not."""

    def make(original: Original) -> Original:
        def acknowledge(qm: QueueManager, what: Any, *rest: Any) -> None:
            message = what.MessageReference if isinstance(what, MessagePosition) else what
            every = replace(message, AcknowledgementsRequested=0x0F)
            if isinstance(what, MessagePosition):
                original(qm, replace(what, MessageReference=every), *rest)
            else:
                original(qm, every, *rest)

        return acknowledge

    return procedure(event, make)


def _asking_for_all(original: Original) -> Original:
    def insert(qm: QueueManager, queue: Any, message: Message, *rest: Any) -> Any:
        asked = message.AcknowledgementsRequested | MessagePropertiesHeader.flags(PR=1, NR=1)
        return original(qm, queue, replace(message, AcknowledgementsRequested=asked), *rest)

    return insert


def _to_response_queue(original: Original, *_: Any) -> Original:
    def send(qm: QueueManager, message: Message, *rest: Any) -> None:
        name = message.AdministrationQueueFormatName or message.ResponseQueueFormatName
        original(qm, replace(message, AdministrationQueueFormatName=name), *rest)

    return send


def _elsewhere(begins: str) -> Callable[[Message, Message], Message]:
    """Send an acknowledgment elsewhere whose destination begins so."""

    def change(ack: Message, message: Message) -> Message:
        far = ack.DestinationQueueFormatName.upper().startswith(begins)
        return replace(ack, DestinationQueueFormatName=ELSEWHERE) if far else ack

    return change


def _of_type(kind: int) -> Install:
    """Read one type of administration queue as a queue that is elsewhere."""

    def make(build: Original, qm: QueueManager, session: Any, packet: UserMessagePacket, *_: Any) -> Original:
        def elsewhere(*arguments: Any) -> Any:
            return replace(build(*arguments), DestinationQueueFormatName=ELSEWHERE)

        return elsewhere if kind == packet.UserHeader.AQ else build

    return during(Receiving.take_message, AdminAcks.build, make)


def _other_correlation(ack: Message, message: Message) -> Message:
    return replace(ack, CorrelationIdentifier=bytes(20))


def _other_response(ack: Message, message: Message) -> Message:
    return replace(ack, ResponseQueueFormatName=ELSEWHERE)


def _response_of(begins: str) -> Callable[[Message, Message], Message]:
    def change(ack: Message, message: Message) -> Message:
        meant = message.DestinationQueueFormatName.upper().startswith(begins)
        return replace(ack, ResponseQueueFormatName=ELSEWHERE) if meant else ack

    return change


def _delivered(guarantee: DeliveryGuarantee) -> Callable[[Message, Message], Message]:
    return lambda ack, message: replace(ack, DeliveryGuarantee=guarantee)


def _without_body(ack: Message, message: Message) -> Message:
    return replace(ack, Body=b"")


def _with_body(ack: Message, message: Message) -> Message:
    return replace(ack, Body=message.Body)


def _with(changes: dict[str, Any]) -> Callable[[Message, Message], Message]:
    return lambda ack, message: replace(ack, **changes)


# -- 3.1.5.8.10, 3.1.7.2 When one is sent --------------------------------------------------------------------------

ARRIVED = ("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQQB-3.1.5.8-12")
add("arrival-not-told", ARRIVED, "No arrival is acknowledged.", skip(AdminAcks.acknowledge_arrival))
add(
    "arrival-told-unasked",
    "MQQB-3.1.5.8.10-02",
    "Every arrival is acknowledged.",
    _always(AdminAcks.acknowledge_arrival),
)
add("removal-not-told", f"{REMOVED}01", "Leaving a queue is not acknowledged.", skip(AdminAcks.acknowledge_receive))
add(
    "removal-told-unasked",
    (f"{REMOVED}01", f"{REMOVED_ADMIN}03"),
    "Leaving a queue is always acknowledged.",
    procedure(Positions.insert_message, _asking_for_all),
)
add(
    "removal-told-express",
    (f"{REMOVED_ADMIN}01", f"{RULE}24"),
    "Acknowledgments of removal are express.",
    _of(AdminAcks.acknowledge_receive, _delivered(EXPRESS)),
)
add(
    "removal-told-recoverable",
    (f"{REMOVED_ADMIN}02", f"{RULE}24"),
    "Acknowledgments of removal are recoverable.",
    _of(AdminAcks.acknowledge_receive, _delivered(RECOVERABLE)),
)


# -- 3.1.7.15 What it is -------------------------------------------------------------------------------------------


def _gate(value: bool) -> Install:
    return procedure(AdminAcks.may_send_nack, lambda original: lambda qm, message_class: value)


def _never_insecure(original: Original) -> Original:
    def may_send(qm: QueueManager, message_class: MessageClass) -> bool:
        return message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q and bool(original(qm, message_class))

    return may_send


add(
    "removal-told-nobody-asked",
    f"{RULE}03",
    "Without administration queue a removal is told to the response queue.",
    during(AdminAcks.acknowledge_receive, AdminAcks.send, _to_response_queue),
)
add(
    "arrival-told-nobody-asked",
    f"{RULE}04",
    "Without administration queue an arrival is told to the response queue.",
    during(AdminAcks.acknowledge_arrival, AdminAcks.send, _to_response_queue),
)
add("insecure-told-always", f"{RULE}05", "SendInsecureNacks is taken for TRUE.", _gate(True))
add("insecure-told-never", f"{RULE}05", "BAD_DST_Q is never told.", procedure(AdminAcks.may_send_nack, _never_insecure))
add(
    "acknowledgment-not-made",
    tuple(f"{RULE}{number}" for number in ("06", "30", "34")),
    "No acknowledgment is ever sent.",
    procedure(AdminAcks.send, lambda original: _nothing),
)
add(
    "acknowledgment-other-class",
    (f"{RULE}07", f"{REMOVED_ADMIN}03"),
    "An acknowledgment of removal says REACH_QUEUE_TIMEOUT.",
    _of(
        AdminAcks.acknowledge_receive,
        lambda ack, message: replace(ack, Class=MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT),
    ),
)
add(
    "arrival-told-elsewhere",
    (f"{RULE}08", f"{RULE}10"),
    "An acknowledgment of arrival goes to another queue.",
    _of(AdminAcks.acknowledge_arrival, _elsewhere("")),
)
add(
    "removal-told-elsewhere",
    f"{RULE}09",
    "An acknowledgment of removal goes to another queue.",
    _of(AdminAcks.acknowledge_receive, _elsewhere("")),
)
for rule, kind in (("11", ON_SOURCE), ("12", ON_DESTINATION), ("13", PUBLIC), ("14", ON_OTHER), ("15", DIRECT)):
    says = f"An acknowledgment for an administration queue with AQ {kind} goes to another."
    add(f"administration-type-{kind}", f"{RULE}{rule}", says, _of_type(kind))
add(
    "removal-correlated-to-nothing",
    f"{RULE}16",
    "An acknowledgment of removal has no CorrelationID.",
    _of(AdminAcks.acknowledge_receive, _other_correlation),
)
add(
    "arrival-correlated-to-nothing",
    (f"{RULE}17", f"{RULE}18"),
    "An acknowledgment of arrival has no CorrelationID.",
    _of(AdminAcks.acknowledge_arrival, _other_correlation),
)
add(
    "removal-of-another-queue",
    f"{RULE}19",
    "An acknowledgment of removal names another queue.",
    _of(AdminAcks.acknowledge_receive, _other_response),
)
add("response-of-another-queue", f"{RULE}20", "An acknowledgment names another queue.", _made(_other_response))
for rule, begins in (("21", "PRIVATE="), ("22", "PUBLIC="), ("23", "DIRECT=")):
    says = f"An acknowledgment of a message to {begins} names another queue."
    add(f"response-{begins[:-1].lower()}", f"{RULE}{rule}", says, _made(_response_of(begins)))
add("arrival-told-express", f"{RULE}25", "Acknowledgments are express.", _made(_delivered(EXPRESS)))
add("arrival-told-recoverable", f"{RULE}25", "Acknowledgments are recoverable.", _made(_delivered(RECOVERABLE)))
attributes: tuple[tuple[str, dict[str, Any]], ...] = (
    ("asks", {"AcknowledgementsRequested": 1}),
    ("reach", {"TimeToReachQueue": 800}),
    ("receive", {"TimeToBeReceived": 900}),
    ("journaled", {"PositiveJournalingRequested": True}),
    ("logged", {"NegativeJournalingRequested": True}),
)
for name, changes in attributes:
    says = f"An acknowledgment has {', '.join(changes)} set."
    add(
        f"acknowledgment-{name}",
        f"{RULE}26",
        says,
        _made(_with(changes)),
    )
for rule, event, events in (
    ("28", "removal", (AdminAcks.acknowledge_receive,)),
    ("29", "refusal", (AdminAcks.acknowledge_failure, AdminAcks.acknowledge_arrival)),
):
    add(
        f"{event}-without-body",
        f"{RULE}{rule}",
        f"The acknowledgment of {event} has no body.",
        _of(events[0], _without_body),
    )
    add(f"{event}-always-with-body", f"{RULE}{rule}", "That of a success has a body.", _of(events[-1], _with_body))


# -- 3.1.5.8.9, 3.1.7.1.7 Reports ----------------------------------------------------------------------------------


def _report(event: Method, **changes: Any) -> Install:
    """Change the reports of one event; callables get the old value."""

    def make(original: Original, *_: Any) -> Original:
        def send(qm: QueueManager, report: Message, now: Now) -> None:
            values = {name: new(getattr(report, name)) if callable(new) else new for name, new in changes.items()}
            original(qm, replace(report, **values), now)

        return send

    return during(event, OwnMessages.send, make)


def _untraced(original: Original) -> Original:
    return lambda qm, message, now: original(qm, replace(message, TracingRequested=True), now)


def _to_unknown(original: Original, *_: Any) -> Original:
    """Open a queue for a report although it cannot be opened."""

    def send(qm: QueueManager, report: Message, now: Now) -> None:
        if qm.resolving.get_destination_info(report.DestinationQueueFormatName) is None:
            report = replace(report, DestinationQueueFormatName=ELSEWHERE)
        original(qm, report, now)

    return send


for event, trace, prefix, step in (
    ("received", Tracing.trace_received, RECEIVED, "MQQB-3.1.5.8-11"),
    ("sent", Tracing.trace_sent, SENT, None),
):
    rules = [f"{prefix}01", f"{prefix}02", *([f"{RECEIVED}08", f"{RECEIVED}11", step] if step else [])]
    add(f"report-{event}-missing", rules, f"What was {event} is not reported.", skip(trace))
    numbers = ("03", "03", "03", "04", "05") if event == "sent" else ("03", "04", "05", "06", "07")
    changes_by_name: tuple[tuple[str, str, Any], ...] = (
        ("class", "Class", MessageClass.MQMSG_CLASS_NORMAL),
        ("queue", "DestinationQueueFormatName", ELSEWHERE),
        ("delivery", "DeliveryGuarantee", RECOVERABLE),
        ("label", "Label", lambda old: f"0{old}"),
        ("body", "Body", lambda old: old[2:]),
    )
    for number, (what, field, value) in zip(numbers, changes_by_name, strict=True):
        says = f"A report of what was {event} has another {field}."
        add(f"report-{event}-{what}", f"{prefix}{number}", says, _report(trace, **{field: value}))
add("report-unasked", f"{RECEIVED}01", "Every message is reported.", procedure(Tracing.trace_received, _untraced))
add(
    "report-to-unknown-queue",
    f"{RECEIVED}11",
    "A report for a queue that cannot be opened goes elsewhere.",
    during(Tracing.trace_received, OwnMessages.send, _to_unknown),
)
