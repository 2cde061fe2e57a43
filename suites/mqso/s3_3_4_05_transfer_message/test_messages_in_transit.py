"""MS-MQSO 3.3.4.5 Transfer Message: messages from other queue managers that the SUT forwards to the next hop."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from harness.wire import PrivateQueueFormatNameId, PublicQueueFormatName
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message, send_for_forwarding
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.opening import OTHER_GUID

TRANSIT_USER_HEADER_FIELDS: dict[str, Any] = {"SourceQueueManager": OTHER_GUID, "RC": 1}
USER_HEADER_FIELDS_BY_DESTINATION: dict[str, dict[str, Any]] = {
    "public": {
        "DQ": 5,
        "DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE),
    },
    "private": {"DQ": 3, "DestinationQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=1)},
}
"""The fields of UserHeader for a queue of the queue manager in the other site, by the kind of the queue's name."""


@needs("directory", "private_names")
@covers("MQSO-3.3.4.5-01")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize("name", list(USER_HEADER_FIELDS_BY_DESTINATION))
def test_message_in_transit_is_sent_to_site_gate(peer, sut, judge, name, delivery):
    """The SUT forwards a message from another queue manager to the peer. That queue manager then sends a message for a
    queue in another site. The SUT sends this message to the peer, which is the gate on the route to that site; the
    message is still addressed to the queue manager of the queue.
    """
    first, _ = forward_message(peer, sut, TRANSIT_USER_HEADER_FIELDS)
    user = {
        **TRANSIT_USER_HEADER_FIELDS,
        **USER_HEADER_FIELDS_BY_DESTINATION[name],
        "QueueManagerAddress": GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    }
    headers: dict[str, Any] = {}
    if delivery == "transactional":
        headers["transaction"] = {"TxSequenceID": Sequence(peer).identifier, "TxSequenceNumber": 1}
    sent, forwarded = send_for_forwarding(peer, sut, user | {"DM": int(delivery != "express")}, **headers)
    judge.all(
        expected=holds("the message arrives at the gate", otherwise="the message does not arrive at the gate"),
        observed=forwarded is not None,
        evidence=[first, sent, forwarded],
    )
    if forwarded is not None:
        expected = fields({"UserHeader.QueueManagerAddress": str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE)})
        judge.all(expected=expected, observed=Layout(forwarded), evidence=[sent, forwarded])
