"""Faults of MS-MQSO 6.6.2.1 that only special cases reveal: other errors, other keys of the search, and the state after
a further restart.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.membership import Membership
from reference_qm.core.store.disk import Change as DiskChange
from reference_qm.surface.clock import Now


@fault("queue-manager-identifier-of-created-object-lost-at-restart", breaks="MQSO-6.6.2.1-05")
class QueueManagerIdentifierOfCreatedObjectLostAtRestart(Membership):
    """The Identifier of the object that the directory created is lost at the next restart."""

    def _save_change(self, change: DiskChange) -> None:
        super()._save_change({name: value for name, value in change.items() if name != "directory_identifier"})


class NotesOtherObject(Membership):
    """A queue manager that records whether the object in a new domain has a different Identifier."""

    def change_domain(self, go_on: Callable[[Now], None], now: Now) -> None:
        found = self.find_machine()
        vars(self)["found_other"] = found is not None and found.Identifier != self.qm.adm.Identifier
        super().change_domain(go_on, now)


class NotQueriedAgain(DirectoryClient):
    """A queue manager that found an object with a different Identifier does not query the directory periodically."""

    def watch(self, now: Now) -> None:
        if not vars(self.qm.membership).get("found_other"):
            super().watch(now)


add(
    "queue-manager-object-of-other-identifier-not-queried-again",
    "MQSO-6.6.2.1-D02",
    "A queue manager that finds an object with a different Identifier does not query the directory periodically.",
    both(replace_part(NotesOtherObject), replace_part(NotQueriedAgain)),
)
