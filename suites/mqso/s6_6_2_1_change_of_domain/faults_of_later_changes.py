"""Faults in the directory objects of a queue manager that changes its domain or leaves it."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.store.disk import Change
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-created-identifier-lost-at-restart", breaks="MQSO-6.6.2.1-05", blind=True)
class QueueManagerCreatedIdentifierLostAtRestart(DomainMembership):
    """A queue manager uses the Identifier of the object that the directory created only until its next restart."""

    def _save_domain_change(self, change: Change) -> None:
        if "directory_identifier" not in change:
            super()._save_domain_change(change)


@fault("queue-manager-uses-identifier-of-new-object-only-in-directory-reads", breaks="MQSO-6.6.2.1-05", blind=True)
class QueueManagerUsesIdentifierOfNewObjectOnlyInDirectoryReads(DomainMembership):
    """A queue manager reads the directory with the Identifier of the created object, but identifies itself with its
    previous Identifier.
    """

    def create_machine_object(self, go_on: Callable[[Now], None], now: Now) -> None:
        before = self.qm.adm.Identifier

        def continue_with_previous_identifier(later: Now) -> None:
            go_on(later)
            self.qm.adm.Identifier = before

        super().create_machine_object(continue_with_previous_identifier, now)


@fault("queue-manager-directory-offline-false-after-identifier-mismatch", breaks="MQSO-6.6.2.1-D02", blind=True)
class QueueManagerDirectoryOfflineFalseAfterIdentifierMismatch(DomainMembership):
    """If a queue manager finds an object with a wrong Identifier in its new domain, it leaves DirectoryOffline at
    FALSE.
    """

    def process_domain_change(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine_object()
        super().process_domain_change(go_on, now)
        if found is not None:
            self.qm.enterprise.state.DirectoryOffline = False


@fault("queue-manager-with-public-queues-stays-integrated-outside-domain", breaks="MQSO-6.6.2.2-01", blind=True)
class QueueManagerWithPublicQueuesStaysIntegratedOutsideDomain(DirectoryClient):
    """A queue manager with public queues leaves DirectoryIntegrated TRUE when its computer has left the domain."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        left = self.qm.domain_membership.has_left_domain
        super()._on_first_read(answer, now)
        public = any(one.QueueType.value == "Public" for one in self.qm.adm.QueueCollection.values())
        if left and public:
            self.qm.enterprise.state.DirectoryIntegrated = True
            self.qm.enterprise.state.go_offline()


@fault("queue-manager-deletes-public-queues-when-it-returns-to-domain", breaks="MQSO-6.6.2.2-02", blind=True)
class QueueManagerDeletesPublicQueuesWhenItReturnsToDomain(DirectoryClient):
    """When a queue manager returns to a domain that it has left, it deletes the directory objects of the public queues
    that it had there.
    """

    def _join_domain(self, now: Now) -> None:
        returned = self.qm.adm.LastDomain is None and self.qm.enterprise.last_known is not None
        super()._join_domain(now)
        if returned:
            for element in self.qm.enterprise.state.QueueCollection:
                self.qm.directory_link.write(DirectoryDeleteRequest(element), lambda answer: None)
