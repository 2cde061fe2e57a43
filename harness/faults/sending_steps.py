"""Faults of the steps of sending, and of the events around it. Spec: MS-MQQB 3.1.7.1, .1.1, .1.6, .4, .10, .16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.primitives import afterwards, beforehand, both, during, procedure, set_fields, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    EstablishConnectionPacket,
    MessageClass,
    PrivateName,
    PublicName,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.dispatching import DispatchCollection
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.resolving import Destination, Resolving
from reference_qm.core.protocol.securing import Securing
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.tracing import Tracing
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
EVENT, PACKET, WRAPPER = "MQQB-3.1.7.1", "MQQB-3.1.7.1.6", "MQQB-3.1.7.16"
ELSEWHERE = Destination("127.0.0.99", NULL_GUID)
"""Where nobody listens."""
OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
"""A queue manager that is nowhere."""


# -- 3.1.7.1, 3.1.7.1.1, 3.1.7.1.6, 3.1.7.16 sending ---------------------------------------------------------------


def _whatever_the_queue(original: Original) -> Original:
    def may_send(qm: QueueManager, session: Session) -> bool:
        return session.SessionState is SessionState.OPEN and qm.sending.is_window_open(session)

    return may_send


def _also_on_hold(original: Original) -> Original:
    """Put a message into its table as if the queue were not on hold."""

    def put(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = session.OutgoingQueueReference
        assert queue is not None
        state, queue.State = queue.State, OutgoingQueueState.CONNECTED
        original(qm, session, position, now)
        queue.State = state

    return put


def _without_reference(qm: QueueManager, session: Session, *_: Any) -> None:
    session.OutgoingQueueReference = None


def _uncounted(original: Original) -> Original:
    """Do not count what the queue manager sends for itself."""

    def update(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet: UserMessagePacket = original(qm, session, position, now)
        if position.UserMessage.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL:
            session.MessageSentCount -= 1
        return packet

    return update


def _one_identifier(original: Original) -> Original:
    return lambda qm: 5


def _not_transmitted(qm: QueueManager, session: Session, position: OutgoingMessagePosition, *_: Any) -> None:
    position.Transmitted = False


def _transmitted_when_put(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
    position.Transmitted = True


def _into_nothing(original: Original) -> Original:
    """Dispatch what waits although there is no connection."""

    def remove(qm: QueueManager, queue: OutgoingQueue) -> None:
        for position in queue.session.OutgoingMessageTable:
            queue.session.OutgoingMessageTable.remove(position)

    return remove


def _again(original: Original) -> Original:
    """Leave a message in the dispatch collection when it was sent for the first time."""
    sent: set[int] = set()

    def remove(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        if position.order in sent:
            original(qm, session, position)
        else:
            sent.add(position.order)
            session.OutgoingMessageTable.send_again(position)

    return remove


def _nothing(*_: Any) -> None:
    return None


for _name, _rules, _says, _install in (
    (
        "whatever-the-queue",
        (f"{EVENT}-02",),
        "Messages are sent while their queue is on hold.",
        both(procedure(Sending.may_send, _whatever_the_queue), procedure(Sending.put_outgoing, _also_on_hold)),
    ),
    (
        "whatever-the-window",
        (f"{EVENT}-03",),
        "Messages are sent although the window is full.",
        procedure(Sending.is_window_open, lambda original: lambda *_: True),
    ),
    (
        "without-reference",
        (f"{EVENT}-04",),
        "The session has no outgoing queue when it has sent.",
        afterwards(Sending.transmit, _without_reference),
    ),
    (
        "not-serialized",
        (f"{EVENT}-05", "MQQB-3.1.7.1.1-03"),
        "The packet has another label and priority than the message.",
        wrong_fields(
            UserMessagePacket, {"MessagePropertiesHeader.Label": "label", "BaseHeader.Flags": lambda old: old & ~7}
        ),
    ),
    (
        "not-signed",
        (f"{EVENT}-07",),
        "Nothing is signed.",
        procedure(Securing.sign_packet, lambda original: lambda *given: given[-1]),
    ),
    (
        "not-encrypted",
        (f"{EVENT}-08",),
        "Nothing is encrypted.",
        procedure(Securing.encrypt_body, lambda original: lambda qm, session, message, packet, now: packet),
    ),
    (
        "not-updated",
        (f"{EVENT}-09",),
        "Every transactional message has the first place in its sequence.",
        wrong_fields(
            UserMessagePacket,
            {"TransactionHeader.TxSequenceNumber": 1},
            lambda packet: packet.TransactionHeader is not None,
        ),
    ),
    (
        "not-transmitted",
        (f"{EVENT}-10", f"{PACKET}-01", f"{WRAPPER}-03"),
        "Messages are taken for sent that are not.",
        skip(Sending.transmit),
    ),
    ("not-traced", (f"{EVENT}-11",), "Nothing that is sent is reported.", skip(Tracing.trace_sent)),
    (
        "own-messages-uncounted",
        (f"{EVENT}-12",),
        "The queue manager's own messages are not counted.",
        procedure(Sending.update_user_message, _uncounted),
    ),
    (
        "one-identifier",
        ("MQQB-3.1.7.1.1-02",),
        "Every message has the identifier 5.",
        procedure(Sending.assign_identifier, _one_identifier),
    ),
    (
        "transmitted-not-noted",
        (f"{PACKET}-02",),
        "Transmitted stays FALSE.",
        afterwards(Sending.transmit, _not_transmitted),
    ),
    (
        "transmitted-too-early",
        (f"{PACKET}-02",),
        "Transmitted is TRUE before a message is sent.",
        beforehand(Sending.put_outgoing, _transmitted_when_put),
    ),
    (
        "lost-unnoticed",
        (f"{PACKET}-03", f"{PACKET}-06"),
        "A session whose connection is lost is not closed.",
        during(Closing.on_transport_lost, Closing.close, lambda original, *_: _nothing),
    ),
    (
        "dispatched-into-nothing",
        (f"{PACKET}-03", f"{PACKET}-04"),
        "When the connection is lost, what waits is dispatched all the same.",
        procedure(DispatchCollection.remove_queue, _into_nothing),
    ),
    (
        "sent-twice",
        (f"{WRAPPER}-06",),
        "What was sent stays in the dispatch collection once.",
        procedure(DispatchCollection.remove, _again),
    ),
):
    add(f"step-{_name}", _rules, _says, _install)


# -- 3.1.7.4 Get Destination Info ----------------------------------------------------------------------------------

Change = Callable[[Destination | None], Destination | None]


def _for_names(kind: type | None, change: Change) -> Install:
    """Let format names of a kind lead elsewhere; None: those that are direct."""

    def make(original: Original) -> Original:
        def get(qm: QueueManager, name: str) -> Destination | None:
            found: Destination | None = original(qm, name)
            parsed = parse_format_name(name)
            indirect = isinstance(parsed, PrivateName | PublicName)
            return change(found) if (isinstance(parsed, kind) if kind else not indirect) else found

        return get

    return procedure(Resolving.get_destination_info, make)


def _any_queue(original: Original) -> Original:
    """Take every public queue for one of the queue manager that is known."""

    def get(qm: QueueManager, name: str) -> Destination | None:
        found: Destination | None = original(qm, name)
        return found or Destination(next(iter(qm.config.routes.values()), ""), NULL_GUID)

    return get


for _name, _listed, _says, _install in (
    ("direct-unknown", "02 03 17", "A direct name leads nowhere.", _for_names(None, lambda _: None)),
    ("direct-elsewhere", "04", "A direct name leads to another host.", _for_names(None, lambda _: ELSEWHERE)),
    (
        "direct-by-guid",
        "05",
        "For a direct name a queue manager is asked for.",
        wrong_fields(
            EstablishConnectionPacket,
            {"EstablishConnectionHeader.ServerGuid": OTHER_GUID},
            lambda packet: packet.EstablishConnectionHeader.ServerGuid == NULL_GUID,
        ),
    ),
    ("public-unknown", "02 06 17", "A public name leads nowhere.", _for_names(PublicName, lambda _: None)),
    (
        "public-any",
        "07 08 11",
        "A public name leads where any other does.",
        procedure(Resolving.get_destination_info, _any_queue),
    ),
    ("public-elsewhere", "12", "The host of a public queue is another.", _for_names(PublicName, lambda _: ELSEWHERE)),
    (
        "public-by-host",
        "13",
        "For a public name nobody is asked for.",
        _for_names(PublicName, lambda found: found and Destination("127.0.0.2", NULL_GUID)),
    ),
    ("private-unknown", "02 17", "A private name leads nowhere.", _for_names(PrivateName, lambda _: None)),
    ("private-by-host", "14 15", "A private name has a host.", _for_names(PrivateName, lambda _: ELSEWHERE)),
    (
        "private-other-guid",
        "16",
        "For a private name another queue manager is asked for.",
        wrong_fields(
            EstablishConnectionPacket,
            {"EstablishConnectionHeader.ServerGuid": OTHER_GUID},
            lambda packet: packet.EstablishConnectionHeader.ServerGuid != NULL_GUID,
        ),
    ),
):
    add(f"destination-{_name}", [f"MQQB-3.1.7.4-{_rule}" for _rule in _listed.split()], _says, _install)


# -- 3.1.7.10 Get Message Data Element From Buffer -----------------------------------------------------------------


def _read_otherwise(changes: dict[str, Any]) -> Install:
    """Read something else out of the packet of a message."""

    def make(original: Original) -> Original:
        return lambda qm, session, packet, *rest: original(qm, session, set_fields(packet, changes), *rest)

    return procedure(Receiving.take_message, make)


for _name, _numbers, _says, _changes in (
    ("no-message", ("02", "03"), "Every message has an empty label.", {"MessagePropertiesHeader.Label": ""}),
    ("other-tag", ("03",), "No message has a tag.", {"MessagePropertiesHeader.ApplicationTag": 0}),
    (
        "other-correlation",
        ("03",),
        "No message has a CorrelationID.",
        {"MessagePropertiesHeader.CorrelationID": bytes(20)},
    ),
):
    add(
        f"read-{_name}",
        [f"MQQB-3.1.7.10-{_rule}" for _rule in _numbers],
        _says,
        _read_otherwise({"BaseHeader.PacketSize": 0, **_changes}),
    )
