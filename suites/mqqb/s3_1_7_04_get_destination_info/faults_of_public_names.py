"""Faults of MS-MQQB 3.1.7.4 Get Destination Info: the destination of a public format name, in some sessions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.made_up import MADE_UP_GUID, UNUSED_ADDRESS
from harness.faults.opening_sessions import (
    OpeningCondition,
    has_other_outgoing_queue,
    is_later_attempt,
    sends_express_message,
    sends_transactional_message,
)
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.codec import PublicName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.directory import Queue as DirectoryQueue
from reference_qm.directory import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

DestinationChange = Callable[[QueueManager, Destination | None], Destination | None]


def change_public_destination(when: OpeningCondition, change: DestinationChange) -> Install:
    """Return an installer of a fault that changes the result of Get Destination Info for a public format name, in the
    sessions for which a condition is true.
    """

    def make_changed_lookup(
        original: Callable[..., Destination | None], qm: QueueManager, session: Session, now: Now
    ) -> Callable[..., Destination | None]:
        def find_changed_destination(qm: QueueManager, format_name: str) -> Destination | None:
            found = original(qm, format_name)
            public = isinstance(parse_format_name(format_name), PublicName)
            return change(qm, found) if public and when(qm, session) else found

        return find_changed_destination

    return replace_method_during(
        SessionAddressResolving.resolve_host_address, NextHops.get_destination_info, make_changed_lookup
    )


def find_no_destination(qm: QueueManager, found: Destination | None) -> None:
    """Return no destination."""


def replace_guid_by_own_identifier(qm: QueueManager, found: Destination | None) -> Destination | None:
    """Return a destination with the Identifier of this queue manager."""
    return None if found is None else replace(found, QueueManagerGuid=qm.adm.Identifier)


def replace_guid_by_queue_identifier(qm: QueueManager, found: Destination | None) -> Destination | None:
    """Return a destination that has the Identifier of a queue instead of that of its queue manager."""
    return None if found is None else replace(found, QueueManagerGuid=MADE_UP_GUID)


def find_destination_of_first_public_queue(qm: QueueManager, found: Destination | None) -> Destination | None:
    """Return the destination of the first public queue in the directory if the requested queue is unknown."""
    if found is not None:
        return found
    if not qm.enterprise.state.DirectoryIntegrated:
        foreign = [one for one in qm.config.public_queues.values() if one != qm.adm.Identifier]
        return Destination("", foreign[0]) if foreign else None
    for queue in qm.enterprise.directory.contents()[1] or ():
        if isinstance(queue, DirectoryQueue) and queue.Identifier is not None:
            first = qm.next_hops.get_destination_info(str(PublicName(queue.Identifier)))
            if first is not None and first.QueueManagerGuid != qm.adm.Identifier:
                return first
    return None


for _name, _rule, _says, _when, _change in (
    (
        "initiator-public-name-of-transactional-message-read-without-guid",
        "MQQB-3.1.7.4-07",
        "The initiator does not parse QueueGuid of a public format name if a transactional message waits.",
        sends_transactional_message,
        find_no_destination,
    ),
    (
        "initiator-public-name-of-express-message-read-without-guid",
        "MQQB-3.1.7.4-07",
        "The initiator does not parse QueueGuid of a public format name if an express message waits.",
        sends_express_message,
        find_no_destination,
    ),
    (
        "initiator-public-name-not-looked-up-at-later-attempt",
        "MQQB-3.1.7.4-06",
        "The initiator does not look up the destination of a public format name again at a later attempt to connect.",
        is_later_attempt,
        find_no_destination,
    ),
    (
        "initiator-public-name-not-looked-up-beside-other-queue",
        "MQQB-3.1.7.4-06",
        "The initiator does not look up the destination of a public format name if another outgoing queue exists.",
        has_other_outgoing_queue,
        find_no_destination,
    ),
    (
        "initiator-public-name-of-transactional-message-not-looked-up",
        "MQQB-3.1.7.4-06",
        "The initiator does not look up the destination of a public format name if a transactional message waits.",
        sends_transactional_message,
        find_no_destination,
    ),
    (
        "initiator-unknown-public-name-of-transactional-message-means-first-queue",
        "MQQB-3.1.7.4-11",
        "The initiator uses the first public queue of the directory as the destination of a transactional message "
        "whose public format name is unknown.",
        sends_transactional_message,
        find_destination_of_first_public_queue,
    ),
    (
        "initiator-unknown-public-name-beside-other-queue-means-first-queue",
        "MQQB-3.1.7.4-11",
        "The initiator uses the first public queue of the directory as the destination of an unknown public format "
        "name if another outgoing queue exists.",
        has_other_outgoing_queue,
        find_destination_of_first_public_queue,
    ),
    (
        "initiator-unknown-public-name-of-express-message-means-first-queue",
        "MQQB-3.1.7.4-08",
        "The initiator reads the first public queue of the directory if an express message waits and the directory has "
        "no queue with the GUID.",
        sends_express_message,
        find_destination_of_first_public_queue,
    ),
    (
        "initiator-public-name-of-transactional-message-has-own-queue-manager",
        "MQQB-3.1.7.4-13",
        "The initiator uses its own Identifier as the destination of a public format name if a transactional message "
        "waits.",
        sends_transactional_message,
        replace_guid_by_own_identifier,
    ),
    (
        "initiator-public-name-at-later-attempt-has-own-queue-manager",
        "MQQB-3.1.7.4-13",
        "The initiator uses its own Identifier as the destination of a public format name at a later attempt to "
        "connect.",
        is_later_attempt,
        replace_guid_by_own_identifier,
    ),
    (
        "initiator-public-name-beside-other-queue-has-guid-of-queue",
        "MQQB-3.1.7.4-13",
        "The initiator uses another GUID than the Identifier of the owner as the destination of a public format name "
        "if another outgoing queue exists.",
        has_other_outgoing_queue,
        replace_guid_by_queue_identifier,
    ),
):
    add(_name, _rule, _says, change_public_destination(_when, _change), blind=True)


def change_host_of_public_queue(when: OpeningCondition) -> Install:
    """Return an installer of a fault that uses a wrong host for a public queue, in the sessions for which a condition
    is true.
    """

    def make_changed_lookup(
        original: Callable[..., tuple[DirectoryQueueManager, ...]], qm: QueueManager, session: Session, now: Now
    ) -> Callable[..., tuple[DirectoryQueueManager, ...]]:
        def find_changed_hops(qm: QueueManager, guid: UUID) -> tuple[DirectoryQueueManager, ...]:
            found = original(qm, guid)
            name = get_outgoing_queue(session).DestinationFormatName
            if not isinstance(parse_format_name(name), PublicName) or not when(qm, session):
                return found
            return tuple(replace(one, QualifiedComputerName=UNUSED_ADDRESS) for one in found)

        return find_changed_hops

    return replace_method_during(
        SessionAddressResolving.resolve_host_address, NextHops.get_next_hops, make_changed_lookup
    )


for _name, _says, _when in (
    (
        "initiator-public-queue-at-later-attempt-on-other-host",
        "The initiator uses a wrong computer as the host of a public queue at a later attempt to connect.",
        is_later_attempt,
    ),
    (
        "initiator-public-queue-of-transactional-message-on-other-host",
        "The initiator uses a wrong computer as the host of a public queue if a transactional message waits.",
        sends_transactional_message,
    ),
    (
        "initiator-public-queue-beside-other-queue-on-other-host",
        "The initiator uses a wrong computer as the host of a public queue if another outgoing queue exists.",
        has_other_outgoing_queue,
    ),
):
    add(_name, "MQQB-3.1.7.4-12", _says, change_host_of_public_queue(_when), blind=True)
