"""Faults of MS-MQQB 3.1.7.12 Message Position Available Event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, skip, skip_during
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage
from reference_qm.surface.inputs import Command, Input

_ANOTHER_TOKEN = 1_000_000

# -- where a message goes, and when --------------------------------------------------------------------------------


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
            return [event, Command(event.token + _ANOTHER_TOKEN, out)]

        faulty.input_filters.append(filter_)

    return install


def _is_own(faulty: FaultyCore, name: str) -> bool:
    return any(f"TCP:{address}\\" in name for address in faulty.core.config.addresses)


add(
    "available-own-queue-remote",
    "MQQB-3.1.7.12-02",
    "A message for an own queue is also sent out.",
    _sent_out(_is_own, as_well=True),
)
add(
    "available-multicast-to-one",
    "MQQB-3.1.7.12-03",
    "A multicast message opens a session to one queue manager.",
    _sent_out(lambda faulty, name: name.startswith("MULTICAST=")),
)


@fault("available-hold-connects", breaks="MQQB-3.1.7.12-04")
class HoldConnects(Sending):
    """A message for a queue that is on hold has its session established."""

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        super().message_position_available(queue, position, now)
        if queue.State is OutgoingQueueState.ON_HOLD and queue.session.SessionState is SessionState.CLOSED:
            self.qm.establishing.establish(queue.session, now)


@fault("available-hold-ends", breaks="MQQB-3.1.7.12-04")
class HoldEnds(Sending):
    """A message ends the hold of its queue."""

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        if queue.State is OutgoingQueueState.ON_HOLD and queue.session.SessionState is SessionState.OPEN:
            queue.State = OutgoingQueueState.CONNECTED
        super().message_position_available(queue, position, now)


add(
    "available-http-over-tcp",
    "MQQB-3.1.7.12-05",
    "A message for HTTP or HTTPS goes over a session.",
    _sent_out(lambda faulty, name: name.startswith("DIRECT=HTTP")),
)
add("available-connects-not", "MQQB-3.1.7.12-06", "A message establishes no session.", skip(Establishing.establish))

# -- its entry -----------------------------------------------------------------------------------------------------

add("available-no-entry", "MQQB-3.1.7.12-07", "A message gets no entry.", skip(Sending.message_position_available))


@fault("available-entry-of-the-first", breaks=("MQQB-3.1.7.12-08", "MQQB-3.1.7.12-15"))
class EntryOfTheFirst(Sending):
    """Every entry is that of the first message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.first: OutgoingMessagePosition | None = None

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        self.first = self.first or position
        position.MessagePosition, position.UserMessage = self.first.MessagePosition, self.first.UserMessage
        super().put_outgoing(session, position, now)


@fault("available-entry-with-another-body", breaks=("MQQB-3.1.7.12-09", "MQQB-3.1.7.12-16"))
class EntryWithAnotherBody(Sending):
    """An entry has another body."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        body = {"MessagePropertiesHeader.MessageBody": b"another"}
        packet: UserMessagePacket = set_fields(super().construct_user_message(position), body)
        return packet


def _begins_with(element: str, value: object) -> Install:
    """Let a new entry have another value."""

    class BeginsWith(Sending):
        def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
            setattr(position, element, value)
            super().put_outgoing(session, position, now)

    return replace_part(BeginsWith)


_ELEMENTS: tuple[tuple[str, str, str, str, object], ...] = (
    (
        "available-entry-ordered",
        "MQQB-3.1.7.12-10",
        "A new entry has its OrderAck.",
        "ReceivedOrderAck",
        True,
    ),
    (
        "available-entry-transmitted",
        "MQQB-3.1.7.12-10",
        "A new entry was transmitted.",
        "Transmitted",
        True,
    ),
    (
        "available-entry-numbered",
        "MQQB-3.1.7.12-11",
        "A new entry has a SequenceNumber.",
        "SequenceNumber",
        7,
    ),
    (
        "available-entry-numbered-recoverable",
        "MQQB-3.1.7.12-12",
        "A new entry has a RecoverableSequenceNumber.",
        "RecoverableSequenceNumber",
        7,
    ),
    (
        "available-entry-in-sequence",
        "MQQB-3.1.7.12-13",
        "A new entry has a TxSequenceNumber.",
        "TxSequenceNumber",
        7,
    ),
)
for _name, _rule, _says, _element, _value in _ELEMENTS:
    add(_name, _rule, _says, _begins_with(_element, _value))

add(
    "available-entry-not-dispatched",
    "MQQB-3.1.7.12-14",
    "A new entry is not dispatched.",
    skip_during(Sending.put_outgoing, Sending.dispatch_messages),
)


@fault("queue-on-hold-sends-what-comes-next", breaks="MQQB-3.1.7.12-04", blind=True)
class QueueOnHoldSendsWhatComesNext(Sending):
    """The second message for a queue on hold is sent."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().put_outgoing(session, position, now)
        if len(session.OutgoingMessageTable) == 2 and session.OutgoingQueueReference is not None:
            self.qm.administering.resume_queue(session.OutgoingQueueReference, now)


@fault("session-retry-waits-for-ever", breaks="MQQB-3.1.7.12-14")
class RetryWaitsForEver(Establishing):
    """A session whose messages were acknowledged while it was lost is never established again."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if len(session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)
