"""Faults of MS-MQQB 3.1.7.4 Get Destination Info that depend on the form of the host name."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PrivateQueuePath, PublicQueuePath, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.sessions.session_address_resolving import is_ip_address_text


@fault("initiator-direct-name-domain-of-host-dropped", breaks="MQQB-3.1.7.4-03", blind=True)
class InitiatorDirectNameDomainOfHostDropped(NextHops):
    """The initiator takes only the first label of a qualified host name in a direct format name of the protocol OS."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        name = parse_format_name(format_name)
        if found is None or not isinstance(name, PrivateQueuePath | PublicQueuePath) or name.Protocol != "OS":
            return found
        return (
            found if is_ip_address_text(found.HostName) else replace(found, HostName=found.HostName.partition(".")[0])
        )
