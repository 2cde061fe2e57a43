"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: the SUT acknowledges the end of encrypted messages."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatNameId
from harness.wire.protection import RC4
from suites.mqqb.steps.caching import BASE_PRIVACY_LEVEL
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    get_correlation_id,
    get_message_class,
    identifier,
    purge_queue,
    receive_first_message,
)
from suites.mqqb.steps.secured import SENDER_TYPE_OF_QUEUE_MANAGER, SYMMETRIC_KEYS, encrypt_message

ADMIN_QUEUE_NUMBER = 0x5A0B_0C05
ACK_REQUESTS = {"PA": 1, "PR": 1, "NA": 1, "NR": 1}


@covers("MQQB-3.1.7.15-D06")
@needs("security", "receive", "queue_control")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("private_names"))])
def test_no_acknowledgment_of_encrypted_message_is_encrypted(peer, sut, judge, name):
    """The peer sends encrypted messages that request every acknowledgment. One is received, one is purged, and one is
    refused, because its queue is transactional. No acknowledgment of these messages has a PrivacyLevel or is encrypted.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = sut.new_queue("encrypted")
    place: dict[str, Any] = {}
    if name == "private":
        place = {"AQ": 2, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)}
    claims = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "DE": 1, "SecurityID": peer.identifier.bytes_le}

    def send(**where: Any) -> Any:
        headers = {"properties": ACK_REQUESTS, "body": b"to be encrypted", "security": claims}
        clear = peer.message(receiver.add_admin_queue_fields() | place, **where, **headers)
        return receiver.send_packet(encrypt_message(sut, clear, BASE_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[40]))

    to = rf"TCP:{sut.address}\{queue}"
    sent = [send(destination=to)]
    peer.eventually(lambda: len(sut.labels(queue)) == 1)
    receive_first_message(sut, queue)
    sent.append(send(destination=to))
    peer.eventually(lambda: len(sut.labels(queue)) == 1)
    purge_queue(sut, queue)
    sent.append(send(queue="transactional"))
    wanted = {identifier(message) for message in sent}
    came = [ack for ack in receiver.await_acks(5) if get_correlation_id(ack) in wanted]
    classes = {get_message_class(ack) for ack in came}
    if not {AckClass.REACH_QUEUE, AckClass.RECEIVE} <= classes:
        raise ConformanceFailure("the SUT did not acknowledge the arrival and the receipt of the encrypted messages")
    for ack in came:
        encrypted = bool(ack["UserHeader"].SH and ack["SecurityHeader"].EB)
        judge(
            "MQQB-3.1.7.15-D06",
            expected=facts(encrypted=False, PrivacyLevel=0),
            observed={"encrypted": encrypted, "PrivacyLevel": int(ack["MessagePropertiesHeader"].PrivacyLevel)},
            evidence=[*sent, ack],
            case=f"acknowledgment of class 0x{get_message_class(ack):04X}",
        )
