"""Sending to a multiple-element format name. Spec: MS-MQMQ 2.1.7, 2.2.20.1, MS-MQDMPR 3.1.7.1.27."""

import pytest
from core_network import TRANSACTIONAL, Network, direct

from reference_qm.surface.commands import SendMessage


@pytest.fixture
def network():
    return Network()


@pytest.mark.parametrize(
    ("to", "fields", "why"),
    [
        (f"{direct(2)},MULTICAST=234.1.1.1:80", {}, "cannot be a destination"),
        (f"{direct(2)},DL=6d71636f-6e66-4f72-8d00-000000000003", {}, "cannot be expanded"),
        (f"{direct(2)},{direct(1, TRANSACTIONAL)}", {}, "is a transactional queue"),
        (f"{direct(2)},{direct(1)}", {"sender": "none", "privacy_level": "base"}, "that also has other destinations"),
        (f"{direct(2)},DIRECT=TCP:10.0.0.1\\private$\\nowhere", {}, "create it first"),
    ],
)
def test_multi_queue_send_with_invalid_queue_sends_no_message(network, to, fields, why):
    one, two = network.host(1), network.host(2)
    assert why in one.refusal(SendMessage(to=to, **fields))
    network.settle()
    assert two.bodies() == []
