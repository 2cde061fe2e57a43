"""Faults of MS-MQQB 3.1.7.4 Get Destination Info, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.part import QM
from reference_qm.core.sessions.resolving import is_address


@fault("initiator-direct-name-host-without-domain", breaks="MQQB-3.1.7.4-04", blind=True)
class InitiatorDirectNameHostWithoutDomain(NextHops):
    """The initiator uses only the part before the first dot of the host name in a direct format name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or found.QueueManagerGuid != NULL_GUID or is_address(found.HostName):
            return found
        return replace(found, HostName=found.HostName.partition(".")[0])


@fault("initiator-unknown-public-queue-never-looked-up-again", breaks="MQQB-3.1.7.4-08", blind=True)
class InitiatorUnknownPublicQueueNeverLookedUpAgain(NextHops):
    """If the initiator does not find a public queue in the directory at its first attempt, it never reads this queue
    from the directory again.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.unknown: set[str] = set()

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = None if format_name in self.unknown else super().get_destination_info(format_name)
        if found is None:
            self.unknown.add(format_name)
        return found
