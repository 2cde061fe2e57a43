"""Faults that break rules of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier, written without knowledge of the
checks.
"""

from __future__ import annotations

from harness.faults.calls import change_step_arguments
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.enums import MessageSeekAction

add(
    "queue-manager-read-by-lookup-identifier-in-transaction-action-current",
    "MQDMPR-3.1.7.1.13-11",
    "The queue manager passes the action Current to the search for a receive by LookupIdentifier in a transaction, "
    "even if the reader requested another action.",
    change_step_arguments(
        MessageReading.read_by_lookup_identifier,
        lookup_operation=lambda given: MessageSeekAction.CURRENT if given.transaction else given.lookup_operation,
    ),
    blind=True,
)
