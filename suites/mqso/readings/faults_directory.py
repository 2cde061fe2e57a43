"""Alternative readings of errata about a queue manager without its directory (MS-MQSO 5.1.1.1, 5.5.4)."""

from __future__ import annotations

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.surface.clock import Now


@follows_reading_of_erratum("E116.2")
class NoMessageIsSentWhileDirectoryIsOffline(NextHops):
    """While the directory cannot be reached, the queue manager sends no messages, not even to direct format names."""

    @faulty_only_if(lambda part, format_name: part.qm.enterprise.state.DirectoryOffline)
    def get_destination_info(self, format_name: str) -> Destination | None:
        return None


@follows_reading_of_erratum("E211.2")
class WorkgroupModeIsKeptAfterReturnToDomain(DirectoryClient):
    """A queue manager that has left its domain is in workgroup mode at every later start, even after its computer has
    joined the domain again.
    """

    @faulty_only_if(lambda part, now: part.qm.enterprise.last_known is not None and part.qm.adm.LastDomain is None)
    def initialize_from_directory(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryIntegrated = False
        super().initialize_from_directory(now)
