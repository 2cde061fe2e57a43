"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: what it says, and which are kept back."""

import base64
from dataclasses import replace

import pytest
from core_admin import ADMIN, acks, classes, pair, send
from core_network import PLAIN, TRANSACTIONAL, direct, guid

from reference_qm.codec import MessageClass, MessageIdentifier, UserMessagePacket
from reference_qm.core.transfer.admin_acks import INSECURE_NACKS
from reference_qm.surface.commands import PurgeQueue, ReceiveMessage

INSECURE = [
    "ACCESS_DENIED",
    "BAD_DST_Q",
    "BAD_ENCRYPTION",
    "BAD_SIGNATURE",
    "UNSUPPORTED_CRYPTO_PROVIDER",
]


def last_packet(host):
    return [one for one in host.packets() if isinstance(one, UserMessagePacket)][-1]


@pytest.mark.parametrize("recoverable", [False, True])
def test_it_says_what_is_printed_and_nothing_else(recoverable):
    near, far = pair()
    message_id = send(near, "positive_arrival", recoverable=recoverable, label="mine", priority=7, application_tag=9)
    (ack,) = acks(near)
    ordinal = int(message_id.rpartition("\\")[2])
    assert {name: value for name, value in ack.items() if name not in ("message_id", "sent_time", "arrived_time")} == {
        "class": "MQMSG_CLASS_ACK_REACH_QUEUE",
        "label": "",
        "body": "",
        "body_base64": "",
        "body_type": 0,
        "priority": 3,
        "delivery": "recoverable" if recoverable else "express",
        "source": str(guid(2)),
        "destination": direct(1, ADMIN),
        "admin_queue": None,
        "response_queue": direct(2),
        "correlation_id": MessageIdentifier(guid(1), ordinal).build().hex(),
        "application_tag": 0,
        "extension_base64": "",
        "time_to_reach_queue_s": 0xFFFFFFFF,
        "time_to_be_received_s": 0xFFFFFFFF,
        "acks": [],
        "journal": [],
        "security": None,
    } | {name: ack[name] for name in ack.keys() & {"transaction_id", "lookup_id", "trace_queue"}}
    packet = last_packet(far)
    assert (packet.TransactionHeader, packet.SecurityHeader, packet.DebugHeader) == (None, None, None)


BODIES = {
    "reached": ({}, lambda far: None, "ACK_REACH_QUEUE", b""),
    "received": ({}, lambda far: far.ask(ReceiveMessage(PLAIN)), "ACK_RECEIVE", b""),
    "purged": ({}, lambda far: far.ask(PurgeQueue(PLAIN)), "NACK_Q_PURGED", b"what was sent"),
    "refused": ({"to": direct(2, TRANSACTIONAL)}, lambda far: None, "NACK_NOT_TRANSACTIONAL_MSG", b"what was sent"),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_negative_one_brings_the_body_back_a_positive_one_does_not(case):
    fields, then, expected, body = BODIES[case]
    near, far = pair()
    send(near, body=b"what was sent", **fields)
    then(far)
    last = acks(near)[-1]
    assert (last["class"], base64.b64decode(last["body_base64"])) == (f"MQMSG_CLASS_{expected}", body)


# -- SendInsecureNacks ------------------------------------------------------------------------------------------


def test_the_insecure_classes_are_those_printed():
    assert sorted(one.name.removeprefix("MQMSG_CLASS_NACK_") for one in INSECURE_NACKS) == INSECURE


@pytest.mark.parametrize("permitted", [False, True])
def test_insecure_ones_are_sent_only_where_permitted(permitted):
    near, far = pair(send_insecure_nacks=permitted)
    message = replace(
        make_message(near), AdministrationQueueFormatName=direct(1, ADMIN), DestinationQueueFormatName=direct(2)
    )
    for message_class in MessageClass:
        far.core.admin_acks.send(message, message_class, far.network.now)
    far.ask(ReceiveMessage(PLAIN))
    far.network.settle()
    sent = [name.removeprefix("NACK_") for name in classes(near)]
    assert sorted(name for name in sent if name in INSECURE) == (INSECURE if permitted else [])
    assert "HOP_COUNT_EXCEEDED" in sent
    assert len(sent) == len(MessageClass) - (0 if permitted else len(INSECURE))


def test_the_permission_survives_a_crash():
    _, far = pair(send_insecure_nacks=True)
    far.restart()
    assert far.core.adm.SendInsecureNacks


def test_a_message_without_an_administration_queue_is_not_acknowledged():
    near, far = pair()
    far.core.admin_acks.send(make_message(near), MessageClass.MQMSG_CLASS_ACK_RECEIVE, far.network.now)
    assert far.adm()["OutgoingQueues"] == []


@pytest.mark.parametrize("size", [0x3FF000, 0x400000])
def test_an_acknowledgment_that_no_packet_holds_is_discarded(size):
    near, far = pair()
    message = replace(make_message(near), AdministrationQueueFormatName=direct(1, ADMIN), Body=bytes(size))
    reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
    far.core.admin_acks.send(message, reason, far.network.now)
    far.ask(ReceiveMessage(PLAIN))
    far.network.settle()
    assert classes(near) == (["NACK_Q_PURGED"] if size < 0x400000 else [])


def make_message(near):
    """Return a message as it lies in a queue."""
    near.send(direct(1))
    (position,) = near.core.adm.QueueCollection[PLAIN].MessagePositionList
    return position.MessageReference
