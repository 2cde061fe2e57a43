"""Faults that break rules of MS-MQSO 6.6.2.1 for some errors or some attributes of the object only."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.objects import QueueManager
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

UNKNOWN_SITE_GUID = UUID(int=0x5174)
"""The identifier of no site."""


@fault("queue-manager-in-new-domain-creates-object-after-failed-read", breaks="MQSO-6.6.2.1-D01")
class QueueManagerInNewDomainCreatesObjectAfterFailedRead(DirectoryClient):
    """A queue manager in a new domain creates its object if the directory refuses the read of the object."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        if answer.status is not Result.SUCCESS and self.qm.domain_membership.has_joined_domain:
            self.qm.enterprise.state.DirectoryIntegrated = True
            self.qm.domain_membership.create_machine_object(self._join_domain, now)
        else:
            super()._on_first_read(answer, now)


@fault("queue-manager-forgets-new-domain-after-failed-read", breaks="MQSO-6.6.2.1-D01")
class QueueManagerForgetsNewDomainAfterFailedRead(DirectoryClient):
    """If a queue manager in a new domain cannot read its object, it discards its saved attributes, and so does not
    notice at its next start that its domain has changed.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        if answer.status is not Result.SUCCESS and self.qm.domain_membership.has_joined_domain:
            self.qm.domain_membership.save_last_domain()
        super()._on_first_read(answer, now)


@fault("queue-manager-creates-object-of-new-domain-with-unknown-site", breaks="MQSO-6.6.2.1-D05")
class QueueManagerCreatesObjectOfNewDomainWithUnknownSite(DomainMembership):
    """In a new domain, the queue manager creates its object with the identifier of an unknown site instead of its own
    sites.
    """

    def describe_machine_object(self) -> QueueManager:
        return replace(super().describe_machine_object(), SiteIdentifierList=(UNKNOWN_SITE_GUID,))
