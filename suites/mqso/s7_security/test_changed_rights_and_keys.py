"""MS-MQSO 7.3, 7.4.1.4.2, 7.4.1.4.3: rights that change, signers of transactional messages, and changed keys."""

from __future__ import annotations

import base64

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.provisioning import ALICE, BOB, MALLORY
from harness.wire import protection
from harness.wire.rpc_qmcomm import DIRECT, PEEK_ACCESS, RECEIVE_ACCESS, queue_format
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.descriptors import EVERYONE_SID, build_security_descriptor
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    judge_dispositions,
    sign_message,
)

ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS, ACCESS_DENIED_CLASS = (
    "ACK_REACH_QUEUE",
    "NACK_BAD_SIGNATURE",
    "NACK_ACCESS_DENIED",
)
WRITE_RIGHT_MASK, PEEK_RIGHT_MASK = 0x04, 0x02
PUBLIC_KEY_ATTRIBUTES = ("public_encryption_keys_base64", "public_signing_keys_base64")
BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 1, 3, 5
LEVEL_AND_ALGORITHM_BY_KEY_BITS = {
    40: (BASE_PRIVACY_LEVEL, protection.RC4),
    128: (ENHANCED_PRIVACY_LEVEL, protection.RC4),
    256: (ADVANCED_PRIVACY_LEVEL, protection.AES_256),
}


def _encode_descriptor(*granted):
    return base64.b64encode(build_security_descriptor(granted=granted)).decode()


def _create_queue(sut, judge, *granted):
    """Create a queue that grants rights; return its path name, or None if the queue cannot be created."""
    try:
        return sut.new_queue("granted", security_base64=_encode_descriptor(*granted))
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return None


@needs("security", "receive", "queue_control")
@covers("MQSO-7.3-02", "MQQB-3.1.5.8.3-120")
def test_right_to_write_is_that_of_present_queue(peer, sut, judge):
    """A queue grants the right to write to Alice. It is deleted, and a new queue with the same name grants the right to
    Bob. The SUT accepts messages of the user who has the right when the message arrives, and refuses messages of the
    other user.
    """
    queue = _create_queue(sut, judge, (ALICE.sid, WRITE_RIGHT_MASK))
    if queue is None:
        return
    secured, to = SecuredMessageSender(peer, sut), rf"TCP:{sut.address}\{queue}"
    for allowed, refused in ((ALICE, BOB), (BOB, ALICE)):
        if allowed is BOB:
            sut.delete_queue(queue)
            sut.create_queue(queue, security_base64=_encode_descriptor((BOB.sid, WRITE_RIGHT_MASK)))
        names = {f"{user.name}, {allowed.name} has the right": user for user in (allowed, refused)}
        found = secured.send_and_read_dispositions(
            {name: secured.message(user, destination=to) for name, user in names.items()}
        )
        rows = [
            (rule, name, "answer", ARRIVAL_ACK_CLASS if user is allowed else ACCESS_DENIED_CLASS)
            for name, user in names.items()
            for rule in ("MQSO-7.3-02", "MQQB-3.1.5.8.3-120")
        ]
        judge_dispositions(judge, secured, found, rows)


@needs("qm2qm", "queue_control")
@covers("MQSO-7.3-02")
def test_right_to_receive_is_checked_beside_other_reader(remote, sut, judge):
    """A queue grants everyone the right to peek. While a remote reader has the queue open for peeking, a second remote
    reader can open the queue for peeking, but not for receiving.
    """
    queue = _create_queue(sut, judge, (EVERYONE_SID, PEEK_RIGHT_MASK))
    if queue is None:
        return
    form = queue_format(DIRECT, rf"TCP:{sut.address}\{queue}")
    first = remote.open_remote(remote.associate(), form=form, access=PEEK_ACCESS)
    association = remote.associate()
    calls = {
        "receive": openings.open_and_close_queue(remote, association, form=form, access=RECEIVE_ACCESS),
        "peek": openings.open_and_close_queue(remote, association, form=form, access=PEEK_ACCESS),
    }
    openings.close_opened_queue(first)
    observed = {"first reader": openings.get_opening_outcome(first)}
    observed |= {way: openings.get_opening_outcome(call) for way, call in calls.items()}
    opened = openings.OPENED_OUTCOME
    expected = {"first reader": opened, "receive": Outcome.REFUSED, "peek": opened}
    judge.all(
        expected=expected,
        observed=observed,
        case="outcomes of the requests to open the queue",
        evidence=[first, *calls.values()],
    )


@needs("security", "receive")
@covers("MQSO-7.3-03", "MQSO-7.4.1.4.2-05")
def test_signer_of_transactional_message_is_authenticated(peer, sut, judge):
    """A user signs transactional messages with its own certificate; they arrive. A transactional message that names the
    user, but is signed with a certificate that is not registered for the user, is refused.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature(ALICE)
    sequence = secured.create_sequence()
    foreign = {"SenderCert": MALLORY.certificate}
    genuine = {"genuine": sign_message(secured.message(queue="transactional", sequence=sequence))}
    found = secured.send_and_read_dispositions(genuine, "transactional")
    false = sign_message(secured.message(queue="transactional", security=foreign), key=MALLORY.key)
    found |= secured.send_and_read_dispositions({"foreign certificate": false}, "transactional")
    answers = {"genuine": ARRIVAL_ACK_CLASS, "foreign certificate": BAD_SIGNATURE_CLASS}
    rows = [
        (rule, name, "answer", answer)
        for rule in ("MQSO-7.3-03", "MQSO-7.4.1.4.2-05")
        for name, answer in answers.items()
    ]
    judge_dispositions(judge, secured, found, rows)


@needs("security", "receive")
@covers("MQSO-7.4.1.4.3-D02")
def test_each_body_is_decrypted_with_key_of_its_message(peer, sut, judge):
    """The peer sends two messages for each key length. The messages are encrypted with different symmetric keys. All
    bodies arrive decrypted.
    """
    secured = SecuredMessageSender(peer, sut)
    packets = {}
    for bits, (level, algorithm) in LEVEL_AND_ALGORITHM_BY_KEY_BITS.items():
        for number in (1, 2):
            key = SYMMETRIC_KEYS[bits] if number == 1 else SYMMETRIC_KEYS[bits][::-1]
            packet = secured.message(body=CLEAR_BODY)
            packets[f"{bits} bits, key {number}"] = encrypt_message(sut, packet, level, algorithm, key)
    rows = [("MQSO-7.4.1.4.3-D02", name, "body", CLEAR_BODY.decode()) for name in packets]
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets), rows)


@needs("directory", "environment", "security", "inspect", "restart", "queue_control")
@covers("MQSO-7.4.1.3-04")
def test_public_keys_stay_in_directory_object_after_restart(peer, sut, judge):
    """After a restart, the SUT's directory object still contains the public encryption and signing keys of the SUT."""
    before = _select_public_key_attributes(sut.read_directory_object())
    sut.restart()
    Enterprise(peer, sut).await_directory_online()
    after = _select_public_key_attributes(sut.read_directory_object())
    judge("MQSO-7.4.1.3-04", expected=before, observed=after, case="public keys in the directory object")


def _select_public_key_attributes(directory_object):
    return {name: (directory_object or {}).get(name) for name in PUBLIC_KEY_ATTRIBUTES}
