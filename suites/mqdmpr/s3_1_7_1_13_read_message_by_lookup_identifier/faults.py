"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.faults.calls import with_arguments, with_result, with_status
from harness.faults.registry import add
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status

EDGES = (MessageSeekAction.FIRST, MessageSeekAction.LAST)


add(
    "lookup-peek-receives",
    ("MQDMPR-3.1.7.1.13-02", "MQDMPR-3.1.7.1.13-11"),
    "A peek by identifier takes the message.",
    with_arguments(Reading.read_by_lookup_identifier, peek_operation=lambda given: False),
)
add(
    "lookup-in-the-first-open-queue",
    "MQDMPR-3.1.7.1.13-09",
    "A read by identifier looks in the queue that was opened first.",
    with_arguments(
        Reading.read_by_lookup_identifier, queue_desc=lambda given: next(iter(given.qm.descriptors.values()))
    ),
)
add(
    "lookup-at-an-edge-by-identifier",
    ("MQDMPR-3.1.7.1.13-11", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53"),
    "A read of the first or last message reads the message of the identifier.",
    with_arguments(
        Reading.read_by_lookup_identifier,
        lookup_operation=lambda given: (
            MessageSeekAction.CURRENT if given.lookup_operation in EDGES else given.lookup_operation
        ),
    ),
)


def _behind(found: MessagePosition | None) -> MessagePosition | None:
    behind = None if found is None else found.Next
    return behind if isinstance(behind, MessagePosition) else found


add(
    "lookup-brings-the-message-behind",
    ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
    "A read by identifier brings the message behind the one that was found, if there is one.",
    with_result(Reading.read_by_lookup_identifier, lambda status, found: (status, _behind(found))),
)
add(
    "lookup-failures-told-as-time-out",
    "MQDMPR-3.1.7.1.13-18",
    "A read by identifier that finds nothing returns MQ_ERROR_IO_TIMEOUT, as one that waited would.",
    with_result(
        Reading.read_by_lookup_identifier,
        lambda status, found: (Status.MQ_ERROR_IO_TIMEOUT if found is None else status, found),
    ),
)
add(
    "lookup-success-told-as-not-found",
    ("MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03"),
    "A read by identifier brings its message with MQ_ERROR_MESSAGE_NOT_FOUND.",
    with_status(Reading.read_by_lookup_identifier, Status.MQ_ERROR_MESSAGE_NOT_FOUND),
)
