"""Faults of the entries that messages get in the table of their session. Spec: MS-MQQB 3.1.7.12."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import beforehand, during, procedure, set_fields, skip
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage
from reference_qm.surface.inputs import Command, Input

Original = Callable[..., Any]
ANOTHER_TOKEN = 1_000_000


def _sent_out(meant: Callable[[FaultyCore, str], bool], *, as_well: bool = False) -> Install:
    """Send messages for some format names to another queue manager, ``as_well`` or instead."""

    def install(faulty: FaultyCore) -> None:
        def filter_(event: Input) -> Iterable[Input]:
            if not isinstance(event, Command) or not isinstance(event.request, SendMessage):
                return [event]
            if not meant(faulty, event.request.to):
                return [event]
            host = next(iter(faulty.core.config.routes.values()))
            out = replace(event.request, to=f"DIRECT=TCP:{host}\\private$\\elsewhere")
            if not as_well:
                return [replace(event, request=out)]
            return [event, Command(event.token + ANOTHER_TOKEN, out)]

        faulty.input_filters.append(filter_)

    return install


def _own(faulty: FaultyCore, name: str) -> bool:
    return any(f"TCP:{address}\\" in name for address in faulty.core.config.addresses)


def _hold_ends(qm: QueueManager, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
    if queue.State is OutgoingQueueState.ON_HOLD and queue.session.SessionState is SessionState.OPEN:
        queue.State = OutgoingQueueState.CONNECTED


def _first_again(original: Original) -> Original:
    kept: list[OutgoingMessagePosition] = []

    def put(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if kept:
            position.MessagePosition, position.UserMessage = kept[0].MessagePosition, kept[0].UserMessage
        kept.append(position)
        original(qm, session, position, now)

    return put


def _another_body(original: Original) -> Original:
    return lambda *given: set_fields(original(*given), {"MessagePropertiesHeader.MessageBody": b"another"})


def _begins_with(name: str, value: object) -> Install:
    """Let a new entry have another value."""

    def spoil(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        setattr(position, name, value)

    return beforehand(Sending.put_outgoing, spoil)


def _nothing(*_: Any) -> None:
    return None


def _without(name: Method) -> Install:
    return during(Sending.put_outgoing, name, lambda original, *_: _nothing)


for _name, _rules, _says, _install in (
    ("own-queue-remote", "02", "A message for an own queue is also sent out", _sent_out(_own, as_well=True)),
    (
        "multicast-to-one",
        "03",
        "A multicast message opens a session to one queue manager",
        _sent_out(lambda faulty, name: name.startswith("MULTICAST=")),
    ),
    (
        "http-over-tcp",
        "05",
        "A message for HTTP or HTTPS goes over a session",
        _sent_out(lambda faulty, name: name.startswith("DIRECT=HTTP")),
    ),
    (
        "hold-ends",
        "04",
        "A message ends the hold of its queue",
        beforehand(Sending.message_position_available, _hold_ends),
    ),
    ("connects-not", "06", "A message establishes no session", procedure(Establishing.establish, lambda _: _nothing)),
    ("no-entry", "07", "A message gets no entry", skip(Sending.message_position_available)),
    (
        "entry-of-the-first",
        "08 15",
        "Every entry is that of the first message",
        procedure(Sending.put_outgoing, _first_again),
    ),
    (
        "entry-with-another-body",
        "09 16",
        "An entry has another body",
        procedure(Sending.construct_user_message, _another_body),
    ),
    ("entry-ordered", "10", "A new entry has its OrderAck", _begins_with("ReceivedOrderAck", True)),
    ("entry-transmitted", "10", "A new entry was transmitted", _begins_with("Transmitted", True)),
    ("entry-numbered", "11", "A new entry has a SequenceNumber", _begins_with("SequenceNumber", 7)),
    (
        "entry-numbered-recoverable",
        "12",
        "A new entry has a RecoverableSequenceNumber",
        _begins_with("RecoverableSequenceNumber", 7),
    ),
    ("entry-in-sequence", "13", "A new entry has a TxSequenceNumber", _begins_with("TxSequenceNumber", 7)),
    ("entry-not-dispatched", "14", "A new entry is not dispatched", _without(Sending.dispatch_messages)),
):
    add(f"available-{_name}", [f"MQQB-3.1.7.12-{rule}" for rule in _rules.split()], f"{_says}.", _install)
