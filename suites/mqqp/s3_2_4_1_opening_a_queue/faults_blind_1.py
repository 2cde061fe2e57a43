"""Violations of MS-MQQP 3.2.4.1 of round one, written without its checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening


@fault("client-open-queue-dwmqs-0-of-directory-server", breaks="MQQP-3.2.4.1-11", blind=True)
class OnlyRoutersCount(ClientOpening):
    """The client sends dwMQS 0 if it is a directory server but not a routing server."""

    def build_open_queue(self, queue: RemoteQueue) -> dict[str, Any]:
        router = self.qm.enterprise.state.LocalQueueManager.RoutingServer
        return super().build_open_queue(queue) | {"dwMQS": int(bool(router))}
