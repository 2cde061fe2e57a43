"""MS-MQSO 5.5.5: before all other steps of its start, the queue manager repairs inconsistent records of queues in its
store.
"""

from __future__ import annotations

from core_network import Network

from reference_qm.surface.commands import CreateQueue


def test_new_queue_gets_no_existing_number():
    network = Network()
    host = network.host(1)
    first = host.ask(CreateQueue("private$\\one"))["format_names"]["private"]
    network.entries[host.address]["last_private_queue_number"] = 0
    host.restart()
    second = host.ask(CreateQueue("private$\\two"))["format_names"]["private"]
    assert second != first
