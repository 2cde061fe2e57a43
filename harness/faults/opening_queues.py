"""Faults of what the abstract data model tells of a session's opening. Spec: MS-MQQB 3.1.5.2 to 3.1.5.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import Method
from harness.faults.primitives import afterwards, always, beforehand, both, procedure, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, DirectQueueFormatName, PublicName, parse_format_name
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.establishing import Establishing, outgoing_queue
from reference_qm.core.protocol.resolving import Destination, Resolving
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.objects import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
Hops = tuple[DirectoryQueueManager, ...]

ELSEWHERE = "127.0.0.99"
"""Where nobody listens."""
OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")


# -- 3.1.5.2.1 where a format name leads ---------------------------------------------------------------------------


def _destination(change: Callable[[Destination | None], Destination | None]) -> Install:
    """Let Get Destination Info return something else."""
    return procedure(Resolving.get_destination_info, lambda original: lambda qm, name: change(original(qm, name)))


def _next_hops(change: Callable[[Original, QueueManager, UUID], Hops]) -> Install:
    """Let Get Next Hops return something else."""
    return procedure(Resolving.get_next_hops, lambda original: lambda qm, guid: change(original, qm, guid))


def _hop_at(guid: UUID, host: str) -> Hops:
    return (DirectoryQueueManager(Identifier=guid, QualifiedComputerName=host),)


def _name_of_the_first(original: Original) -> Original:
    return lambda qm, name: original(qm, next(iter(qm.adm.OutgoingQueues.values())).DestinationFormatName)


def _hide_outgoing_queues(qm: QueueManager) -> None:
    queues = qm.adm.OutgoingQueues
    qm.adm.OutgoingQueues = {
        f"{number} {queue.DestinationFormatName}": queue for number, queue in enumerate(queues.values())
    }


def _other_queue_meant(original: Original) -> Original:
    def receive(qm: QueueManager, session: Session, *rest: Any) -> None:
        others = [queue for queue in qm.adm.OutgoingQueues.values() if queue is not session.OutgoingQueueReference]
        if others:
            session.OutgoingQueueReference = others[-1]
        original(qm, session, *rest)

    return receive


def _to_another_queue(original: Original) -> Original:
    other = DirectQueueFormatName("TCP:127.0.0.1\\private$\\other")
    return lambda *arguments: set_fields(original(*arguments), {"UserHeader.DestinationQueue": other})


add(
    "message-names-another-queue",
    "MQQB-3.1.5.2.1-01",
    "Messages go out with another queue than that of their format name.",
    procedure(Sending.construct_user_message, _to_another_queue),
)
add(
    "outgoing-queue-for-each-message",
    "MQQB-3.1.5.2.1-02",
    "An OutgoingQueue is not found again: the next message gets another.",
    always(_hide_outgoing_queues),
)
add(
    "outgoing-queue-of-another-name",
    "MQQB-3.1.5.2.1-03",
    "OutgoingQueueReference is the OutgoingQueue of another format name.",
    procedure(SessionOpening.receive_parameters_response, _other_queue_meant),
)
add(
    "destination-host-made-up",
    ("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-13"),
    "The host is not that of the format name.",
    _destination(lambda found: found and replace(found, HostName=ELSEWHERE)),
)
add(
    "destination-of-the-first-name",
    "MQQB-3.1.5.2.1-06",
    "Get Destination Info is asked about the first format name ever.",
    procedure(Resolving.get_destination_info, _name_of_the_first),
)
add(
    "next-hop-not-asked-for",
    ("MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-25"),
    "The address is not that of the next hop.",
    _next_hops(lambda original, qm, guid: _hop_at(guid, ELSEWHERE)),
)
add(
    "next-hop-to-another-queue-manager",
    "MQQB-3.1.5.2.1-16",
    "Get Next Hops is asked about another GUID.",
    _next_hops(lambda original, qm, guid: original(qm, OTHER_GUID)),
)


# -- 3.1.5.2.1 destinations that cannot be found -------------------------------------------------------------------


def _is_public(session: Session) -> bool:
    queue = session.OutgoingQueueReference
    return queue is not None and isinstance(parse_format_name(queue.DestinationFormatName), PublicName)


def _left_out(name: Method, public: bool) -> Install:
    """Leave a procedure out for sessions to a public format name, or for the others."""

    def make(original: Original) -> Original:
        def run(qm: QueueManager, session: Session, *rest: Any) -> None:
            if _is_public(session) is not public:
                original(qm, session, *rest)

        return run

    return procedure(name, make)


def _some_host(qm: QueueManager) -> str:
    return next(iter(qm.config.routes.values()))


def _guess_destination(original: Original) -> Original:
    return lambda qm, name: original(qm, name) or Destination(_some_host(qm), NULL_GUID)


add(
    "unknown-queue-guessed",
    "MQQB-3.1.5.2.1-08",
    "A queue that no directory knows is looked for on some host.",
    procedure(Resolving.get_destination_info, _guess_destination),
)
add(
    "unknown-queue-manager-guessed",
    "MQQB-3.1.5.2.1-18",
    "A queue manager without a next hop is looked for on some host.",
    _next_hops(lambda original, qm, guid: original(qm, guid) or _hop_at(guid, _some_host(qm))),
)
add(
    "unknown-queue-not-tried-again",
    "MQQB-3.1.5.2.1-10",
    "No Session Retry Connect Timer runs for a queue that no directory knows.",
    _left_out(Closing.await_reconnect, public=True),
)
add(
    "unknown-queue-manager-not-tried-again",
    "MQQB-3.1.5.2.1-20",
    "No Session Retry Connect Timer runs for a queue manager without a next hop.",
    _left_out(Closing.await_reconnect, public=False),
)
add(
    "unknown-queue-needs-no-validation",
    "MQQB-3.1.5.2.1-11",
    "State of the outgoing queue for a queue that no directory knows is Disconnected.",
    _left_out(Resolving.need_validation, public=True),
)
add(
    "unknown-queue-manager-needs-no-validation",
    "MQQB-3.1.5.2.1-21",
    "State of the outgoing queue for a queue manager without a next hop is Disconnected.",
    _left_out(Resolving.need_validation, public=False),
)


# -- 3.1.5.2.1 next hops -------------------------------------------------------------------------------------------


def _next_hops_kept(original: Original) -> Original:
    def resolve(qm: QueueManager, session: Session, now: Now) -> None:
        queue = outgoing_queue(session)
        earlier = list(queue.NextHops)
        original(qm, session, now)
        queue.NextHops[:0] = earlier

    return resolve


def _next_hops_bare(qm: QueueManager, session: Session, *_: Any) -> None:
    hops = outgoing_queue(session).NextHops
    hops[:] = [hop.partition("=")[2] for hop in hops]


def _next_hop_twice(qm: QueueManager, session: Session, *_: Any) -> None:
    session.NextHopCollection += session.NextHopCollection[-1:]


def _hop(**changes: Any) -> Install:
    """Make next hops with other attributes."""

    def spoil(qm: QueueManager, session: Session) -> None:
        session.NextHopCollection[:] = [replace(hop, **changes) for hop in session.NextHopCollection]

    return beforehand(Resolving.select_next_hop, spoil)


def _address_of_hop(qm: QueueManager, session: Session, now: Now) -> None:
    session.NextHopCollection[:] = [replace(hop, Address=ELSEWHERE) for hop in session.NextHopCollection]
    session.RemoteQMAddress = ELSEWHERE


def _indexer(value: int) -> Callable[..., None]:
    return lambda qm, session, *_: setattr(session, "NextHopIndexer", value)


def _remote(element: str, value: object) -> Install:
    """Set an element of the session that is to be the next hop's, once the request is on its way."""
    return afterwards(Establishing.send_establish_request, lambda qm, session, now: setattr(session, element, value))


for _name, _rules, _says, _install in (
    (
        "next-hops-pile-up",
        "23",
        "NextHops keeps the addresses of earlier attempts",
        procedure(Resolving.resolve_host_address, _next_hops_kept),
    ),
    (
        "next-hops-bare",
        "27",
        "NextHops has addresses without IP=",
        afterwards(Resolving.use_addresses, _next_hops_bare),
    ),
    (
        "next-hop-twice",
        "28 32",
        "NextHopCollection has a NextHop too many",
        afterwards(Resolving.use_addresses, _next_hop_twice),
    ),
    ("next-hop-host-name", "29", "HostName of a NextHop is made up", _hop(HostName="elsewhere.invalid")),
    ("next-hop-guid", "30", "QMGuid of a NextHop is made up", _hop(QMGuid=OTHER_GUID)),
    (
        "next-hop-address",
        "31",
        "Address of a NextHop is made up",
        afterwards(Establishing.send_establish_request, _address_of_hop),
    ),
    (
        "next-hop-indexer",
        "33",
        "NextHopIndexer starts at the second NextHop",
        both(
            afterwards(Resolving.use_addresses, _indexer(1)),
            beforehand(SessionOpening.receive_parameters_response, _indexer(0)),
        ),
    ),
    ("remote-address", "34 35", "RemoteQMAddress is not the NextHop's", _remote("RemoteQMAddress", ELSEWHERE)),
    (
        "remote-host-name",
        "34 36",
        "RemoteQMHostName is not the NextHop's",
        _remote("RemoteQMHostName", "elsewhere.invalid"),
    ),
    ("remote-guid", "34 37", "RemoteQMGuid is not the NextHop's", _remote("RemoteQMGuid", NULL_GUID)),
):
    add(_name, [f"MQQB-3.1.5.2.1-{rule}" for rule in _rules.split()], f"{_says}.", _install)


# -- what the session and its outgoing queue tell ------------------------------------------------------------------


def _session_element(name: Method, element: str, value: object) -> Install:
    return afterwards(name, lambda qm, session, *_: setattr(session, element, value))


def _state_after(name: Method, state: OutgoingQueueState) -> Install:
    return afterwards(name, lambda qm, session, *_: setattr(outgoing_queue(session), "State", state))


def _hops_after_opening(change: Callable[[list[str]], list[str]]) -> Install:
    def spoil(qm: QueueManager, session: Session, *_: Any) -> None:
        hops = outgoing_queue(session).NextHops
        hops[:] = change(hops)

    return afterwards(SessionOpening.receive_parameters_response, spoil)


for _name, _rule, _says, _install in (
    (
        "remote-guid-of-acceptor",
        "3.1.5.3.1-01",
        "RemoteQMGuid of an accepted session is zero",
        _session_element(SessionOpening.receive_establish_request, "RemoteQMGuid", NULL_GUID),
    ),
    (
        "received-window-of-acceptor",
        "3.1.5.4.1-01",
        "ReceivedWindowSize of an accepted session is the own WindowSize",
        _session_element(SessionOpening.receive_parameters_request, "ReceivedWindowSize", 64),
    ),
    (
        "received-window-of-initiator",
        "3.1.5.4.2-01",
        "ReceivedWindowSize of an initiated session is the own WindowSize",
        _session_element(SessionOpening.receive_parameters_response, "ReceivedWindowSize", 64),
    ),
    (
        "outgoing-queue-not-waiting",
        "3.1.5.2.3-16",
        "State is Inactive when the request is sent",
        _state_after(Establishing.send_establish_request, OutgoingQueueState.INACTIVE),
    ),
    (
        "outgoing-queue-not-connected",
        "3.1.5.4.2-09",
        "State is still Waiting when the session is open",
        _state_after(SessionOpening.receive_parameters_response, OutgoingQueueState.WAITING),
    ),
    (
        "open-session-keeps-next-hops",
        "3.1.5.4.2-03",
        "NextHops keeps what was possible before",
        _hops_after_opening(lambda hops: [f"IP={ELSEWHERE}", *hops]),
    ),
    (
        "open-session-other-next-hop",
        "3.1.5.4.2-04",
        "NextHops has another address than the one connected to",
        _hops_after_opening(lambda hops: [f"IP={ELSEWHERE}"]),
    ),
    (
        "open-session-bare-next-hop",
        "3.1.5.4.2-05",
        "NextHops has the address without IP=",
        _hops_after_opening(lambda hops: [hop.partition("=")[2] for hop in hops]),
    ),
):
    add(_name, f"MQQB-{_rule}", f"{_says}.", _install)
