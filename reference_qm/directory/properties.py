"""Reads directory objects that no event of MS-MQDMPR reads. Spec: MS-MQDSSM 3.1.6.9, 3.1.6.14."""

from __future__ import annotations

from uuid import UUID

from reference_qm.directory.objects import Computer, DirectoryObject, DistributionList, Queue
from reference_qm.directory.replica import DirectoryReplica


def find_object_sid(directory: DirectoryReplica, computer: str | None) -> bytes | None:
    """Return the objectSid of a computer, or None if it is unknown. Spec: MS-MQDMPR 3.1.7.1.3.1."""
    _, elements = directory.contents()
    found = (one for one in elements or () if isinstance(one, Computer))
    return next((one.SecurityIdentifier for one in found if _are_names_equal(one.Name, computer)), None)


def find_distribution_list(directory: DirectoryReplica, name: str) -> DistributionList | None:
    """Return the distribution list that has the given name. An administrator chooses the name of each list."""
    _, elements = directory.contents()
    found = (one for one in elements or () if isinstance(one, DistributionList))
    return next((one for one in found if _are_names_equal(one.Name, name)), None)


def list_distribution_list_members(
    directory: DirectoryReplica, identifier: UUID
) -> list[Queue | DistributionList] | None:
    """Return the members of a distribution list, or None if the list is unknown or has an invalid member. Spec:
    MS-MQDSSM 3.1.6.9. A member that is itself a list is returned as a list, not as its members.
    """
    _, elements = directory.contents()
    by_identifier: dict[UUID | None, DirectoryObject] = {one.Identifier: one for one in elements or ()}
    listing = by_identifier.get(identifier)
    if not isinstance(listing, DistributionList):
        return None
    found = [by_identifier.get(one) for one in listing.Members]
    known = [one for one in found if isinstance(one, Queue | DistributionList)]
    return known if len(known) == len(found) else None


def _are_names_equal(name: str | None, other: str | None) -> bool:
    return name is not None and other is not None and name.casefold() == other.casefold()
