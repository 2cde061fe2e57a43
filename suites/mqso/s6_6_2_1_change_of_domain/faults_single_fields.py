"""A fault in the search for the directory object of a computer."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.membership import Membership
from reference_qm.directory.objects import QueueManager


@fault("queue-manager-in-new-domain-finds-object-by-identifier", breaks="MQSO-6.6.2.1-03")
class QueueManagerInNewDomainFindsObjectByIdentifier(Membership):
    """A queue manager in a new domain reads the directory object of its computer by the Identifier."""

    def find_machine(self) -> QueueManager | None:
        return self.qm.enterprise.find_queue_manager("Identifier", self.qm.adm.Identifier)
