"""Faults of MS-MQDMPR 3.1.7.1.26 Get Queue Path that only special cases show: ports and HTTPS."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths


@fault("path-of-http-name-computer-with-port", breaks="MQDMPR-3.1.7.1.26-07")
class HostWithPort(QueuePaths):
    """For an HTTP format name with a port, the event Get Queue Path returns the host together with the port as the
    computer.
    """

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        _, separator, rest = format_name.partition("://")
        return found._replace(rMachineName=rest.partition("/")[0]) if separator else found


@fault("path-of-https-name-computer-is-address", breaks="MQDMPR-3.1.7.1.26-07")
class HttpsIsAddress(QueuePaths):
    """For an HTTPS format name, the event Get Queue Path returns the whole address as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        protocol, separator, rest = format_name.partition(":")
        if separator and protocol.upper().endswith("=HTTPS"):
            return found._replace(rMachineName=rest.partition("\\")[0])
        return found
