"""MS-MQSO 7.3, 7.4.1.3, 7.4.1.4: later messages from a sender, large and encrypted messages, and keys
after a restart.
"""

from __future__ import annotations

import base64
from uuid import UUID

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.wire import protection
from suites.mqdmpr.steps.descriptors import EVERYONE_SID, build_security_descriptor
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS, ACCESS_DENIED_CLASS = (
    "ACK_REACH_QUEUE",
    "NACK_BAD_SIGNATURE",
    "NACK_ACCESS_DENIED",
)
WRITE_RIGHT_MASK, ALL_QUEUE_RIGHTS = 0x04, 0x000F_003F
ANONYMOUS_SID = "S-1-5-7"
BASE_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 5
ENCRYPTION_BY_PROVIDER = {
    "Base": (BASE_PRIVACY_LEVEL, protection.RC4, 40),
    "Advanced": (ADVANCED_PRIVACY_LEVEL, protection.AES_256, 256),
}
"""The level, algorithm and length of the session key in bits, by the name of the provider."""
OTHER_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d5")
LARGE_BODY = b"a large body" * 6_000
ALTERED_MESSAGE_LABELS = ("altered", "altered, large", "altered, encrypted", "altered, transactional")
ALTERED_MESSAGE_RULES = (
    "MQSO-7.3-03", "MQSO-7.4.1.4.1-D01", "MQSO-7.4.1.4.2-01", "MQSO-7.4.1.4.2-02", "MQSO-7.4.1.4.2-03"
)  # fmt: skip


@needs("security", "receive")
@covers(*ALTERED_MESSAGE_RULES)
def test_altered_message_is_refused_after_valid_messages_of_its_sender(peer, sut, judge):
    """After valid messages from a user, the peer sends altered messages from the same user: one with a large body, one
    with an encrypted body, and one in a sequence. The SUT refuses each of them.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature(ALICE)
    genuine = sign_message(secured.message(body=LARGE_BODY))
    clear = flip_signature_bit(sign_message(secured.message(body=CLEAR_BODY, PrivacyLevel=BASE_PRIVACY_LEVEL)))
    found = secured.send_and_read_dispositions(
        {
            "genuine": genuine,
            "altered": flip_signature_bit(sign_message(secured.message())),
            "altered, large": flip_signature_bit(sign_message(secured.message(body=LARGE_BODY))),
            "altered, encrypted": encrypt_message(sut, clear, BASE_PRIVACY_LEVEL, protection.RC4, SYMMETRIC_KEYS[40]),
        }
    )
    later = flip_signature_bit(sign_message(secured.message(queue="transactional")))
    found |= secured.send_and_read_dispositions({"altered, transactional": later}, "transactional")
    rows = [
        (rule, name, "answer", BAD_SIGNATURE_CLASS) for rule in ALTERED_MESSAGE_RULES for name in ALTERED_MESSAGE_LABELS
    ]
    judge_dispositions(judge, secured, found, [*rows, ("MQSO-7.4.1.4.1-D01", "genuine", "answer", ARRIVAL_ACK_CLASS)])


@needs("security", "receive")
@covers("MQSO-7.4.1.4.2-D04")
def test_message_without_signature_or_certificate_is_not_refused_for_its_sender(peer, sut, judge):
    """Messages without a signature are not refused because of a signature, even if their certificate is not registered
    for their sender, or if they have no certificate.
    """
    secured = SecuredMessageSender(peer, sut)
    found = secured.send_and_read_dispositions(
        {
            "unsigned": secured.message(security={"SenderCert": MALLORY.certificate}),
            "without a certificate": secured.message(security={"SenderCert": b""}),
            "transactional": secured.message(security={"SenderCert": MALLORY.certificate}, queue="transactional"),
        }
    )
    for name, disposition in found.items():
        refusals = [one for one in disposition.acknowledgments if one == BAD_SIGNATURE_CLASS]
        judge.all(
            expected=none("refusal because of the signature"),
            observed=refusals,
            case=f'message "{name}"',
            evidence=disposition.frames,
        )


@needs("security", "receive", "queue_control")
@covers("MQSO-7.4.1.3-D01")
def test_certificate_of_signed_message_stays_in_message(peer, sut, judge):
    """A message with a valid signature, ST 0 and an unregistered certificate arrives. An application that reads the
    message gets the certificate.
    """
    secured = SecuredMessageSender(peer, sut)
    open_to_all = base64.b64encode(
        build_security_descriptor(granted=((EVERYONE_SID, ALL_QUEUE_RIGHTS), (ANONYMOUS_SID, ALL_QUEUE_RIGHTS)))
    )
    try:
        queue = sut.new_queue("open", security_base64=open_to_all.decode())
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return
    claims = {"ST": 0, "SecurityID": b"", "SenderCert": MALLORY.certificate}
    packet = sign_message(
        secured.message(security=claims, destination=rf"TCP:{sut.address}\{queue}"), protection.SIG20, MALLORY.key
    )
    disposition = secured.send_and_read_dispositions({"": packet})[""]
    stored = sut.control.call("peek", queue=queue, limit=1)["messages"]
    shown = (stored[0].get("security") if stored else None) or {}
    if "certificate_base64" not in shown:
        reason = "the SUT does not accept the message, or the control channel does not show certificates"
        judge.mark_not_exercised("MQSO-7.4.1.3-D01", reason=reason)
        return
    expected = base64.b64encode(MALLORY.certificate).decode()
    observed = shown["certificate_base64"]
    judge.all(expected=expected, observed=observed, case="certificate of the message", evidence=disposition.frames)


@needs("security", "receive", "queue_control")
@covers("MQSO-7.3-D01")
def test_transactional_queue_grants_right_to_write_to_one_user(peer, sut, judge):
    """A transactional queue grants the right to write only to Bob. The message from Bob arrives, and two messages from
    Alice are refused.
    """
    queue = _create_queue(sut, judge, "ordered", transactional=True)
    if queue is None:
        return
    secured, to = SecuredMessageSender(peer, sut), rf"TCP:{sut.address}\{queue}"
    packets = {
        name: secured.message(user, queue="transactional", destination=to)
        for name, user in (("Bob", BOB), ("Alice", ALICE), ("Alice again", ALICE))
    }
    rows = [
        ("MQSO-7.3-D01", name, "answer", ARRIVAL_ACK_CLASS if name == "Bob" else ACCESS_DENIED_CLASS)
        for name in packets
    ]
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets), rows)


@needs("security", "receive", "queue_control", "directory")
@covers("MQSO-7.3-01", "MQSO-7.3-D01")
def test_public_queue_grants_right_to_write_to_one_user(peer, sut, judge):
    """A public queue grants the right to write only to Bob. The message from Bob arrives, and the message from Alice is
    refused.
    """
    name = f"mqc-{sut.own}-closed"
    try:
        sut.create_queue(name, security_base64=_encode_descriptor_for_bob())
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot set the security descriptor of a public queue: {refused}")
        return
    secured, to = SecuredMessageSender(peer, sut), rf"TCP:{sut.address}\{name}"
    packets = {user.name: secured.message(user, destination=to) for user in (BOB, ALICE)}
    found = secured.send_and_read_dispositions(packets)
    rows = [
        (rule, user.name, "answer", answer)
        for rule in ("MQSO-7.3-01", "MQSO-7.3-D01")
        for user, answer in ((BOB, ARRIVAL_ACK_CLASS), (ALICE, ACCESS_DENIED_CLASS))
    ]
    judge_dispositions(judge, secured, found, rows)
    sut.delete_queue(name)


@needs("security", "receive", "restart")
@covers("MQSO-7.4.1.3-03", "MQSO-7.4.1.4.3-D02")
def test_body_for_each_key_is_decrypted_for_second_sender_and_after_restart(peer, sut, judge):
    """The peer sends bodies that are encrypted for two keys of the SUT, in messages from two queue managers. Then the
    SUT restarts, and the peer sends such bodies again. All bodies arrive decrypted.
    """
    secured = SecuredMessageSender(peer, sut)
    rules = ("MQSO-7.4.1.3-03", "MQSO-7.4.1.4.3-D02")
    for when in ("before the restart", "after the restart"):
        for identifier in (peer.identifier, OTHER_QUEUE_MANAGER_GUID):
            secured.connection = peer.open_raw({"ClientGuid": identifier})
            sender = {"SourceQueueManager": identifier}
            packets = {
                f"{name} of {identifier}, {when}": encrypt_message(
                    sut, secured.message(body=CLEAR_BODY, header=sender), level, algorithm, SYMMETRIC_KEYS[bits]
                )
                for name, (level, algorithm, bits) in ENCRYPTION_BY_PROVIDER.items()
            }
            rows = [(rule, name, "body", CLEAR_BODY.decode()) for rule in rules for name in packets]
            judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets), rows)
        if when == "before the restart":
            sut.restart()


def _encode_descriptor_for_bob():
    return base64.b64encode(build_security_descriptor(granted=((BOB.sid, WRITE_RIGHT_MASK),))).decode()


def _create_queue(sut, judge, name, **properties):
    """Create a queue that grants the right to write only to Bob; return its path name, or None if the queue cannot be
    created.
    """
    try:
        return sut.new_queue(name, security_base64=_encode_descriptor_for_bob(), **properties)
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return None
