"""Faults that break rules of MS-MQQB 3.1.7.4 Get Destination Info."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.part import QM


@fault("initiator-private-format-name-computer-guid-cached-by-queue-number", breaks="MQQB-3.1.7.4-16", blind=True)
class InitiatorPrivateFormatNameComputerGuidCachedByQueueNumber(NextHops):
    """The initiator uses the ComputerGuid of the first private format name with a queue number also for private format
    names of other queue managers with the same queue number.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: dict[int, Destination] = {}

    def get_destination_info(self, format_name: str) -> Destination | None:
        found, name = super().get_destination_info(format_name), parse_format_name(format_name)
        if found is not None and isinstance(name, PrivateName):
            return self.known.setdefault(name.QueueIdentifier, found)
        return found
