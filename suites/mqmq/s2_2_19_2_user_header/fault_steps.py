"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from reference_qm.codec import (
    UserMessagePacket,
)

SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""The GUID of an unknown queue manager."""


PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE, PUBLIC_QUEUE_NAME_TYPE, DIRECT_QUEUE_NAME_TYPE = 3, 5, 7
"""The values of DQ and AQ for a private queue of the destination, a public queue and a direct name."""


SECONDS_PER_HOUR = 3600


QUEUE_NAMES_OFFSET = 64


def make_destination_queue_type_condition(kind: int) -> Callable[[UserMessagePacket], bool]:
    """Return a condition that is true for messages whose UserHeader has the given DQ."""
    return lambda packet: kind == packet.UserHeader.DQ


def has_admin_queue(packet: UserMessagePacket) -> bool:
    """Return whether the UserHeader of a message names an administration queue."""
    return packet.UserHeader.AdminQueue is not None
