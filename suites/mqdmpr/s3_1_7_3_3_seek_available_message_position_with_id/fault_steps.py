"""Steps that several faults of MS-MQDMPR 3.1.7.3.3 share."""

from __future__ import annotations

from reference_qm.model.adm import MessagePosition
from reference_qm.model.position_list import Entry
from reference_qm.model.statuses import Status

SearchResult = tuple[Status, MessagePosition | None]
"""The return values of a search by LookupIdentifier: rStatus and rMessagePosition."""


def does_found_message_have_other_priority(start: Entry | None, found: MessagePosition | None) -> bool:
    """Return whether a search begins at a message of another priority than the message that the search finds."""
    return (
        found is not None
        and isinstance(start, MessagePosition)
        and start.MessageReference.Priority != found.MessageReference.Priority
    )
