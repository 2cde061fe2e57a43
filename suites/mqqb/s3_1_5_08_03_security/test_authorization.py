"""MS-MQQB 3.1.5.8.3 Security: the right of a sender to write to a queue.

The queue "restricted" grants the right to write to a group and to Carol. Erin is a member of the group, but the queue
denies her the right. Dave owns the queue, but it does not grant him the right.
"""

from __future__ import annotations

import base64
from typing import Any

from harness.expectations import holds
from harness.run.marks import covers, malforms, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.provisioning import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    ERIN,
    MALLORY,
    PRINCIPAL_SELF_SID,
    SENDERS_GROUP_SID,
)
from harness.wire import protection
from harness.wire.protection import SIG20
from suites.mqdmpr.steps.descriptors import EVERYONE_SID, INHERIT_ONLY_FLAG, build_security_descriptor
from suites.mqqb.steps.secured import (
    SENDER_TYPE_OF_NO_SENDER,
    SENDER_TYPE_OF_QUEUE_MANAGER,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    judge_dispositions,
    sign_message,
)

ENHANCED_PRIVACY_LEVEL = 3
ARRIVAL_ACK_NAME, ACCESS_DENIED_NACK_NAME = "ACK_REACH_QUEUE", "NACK_ACCESS_DENIED"
REACH_QUEUE_CLASS = 2
"""The class ACK_REACH_QUEUE. Spec: MS-MQMQ 2.2.18.1.6."""
NEEDED_SECURITY_FACILITIES = needs("security", "receive")
RESTRICTED_QUEUE_NEEDS = needs("security", "receive", "queue_control")
"""The needs of checks with a restricted queue. Only the owner may read this queue, so the checks read it by the control
channel and not by a remote reader.
"""
EXPECTED_DISPOSITIONS_ON_RESTRICTED_QUEUE = (
    ("MQQB-3.1.5.8.3-90", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-91", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-98", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-99", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-105", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-110", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-117", "Carol, with the right to write", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-120", "Carol, with the right to write", "kept", "stored in its queue"),
    ("MQQB-3.1.5.8.3-99", "Bob, by the right of his group", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-114", "Bob, by the right of his group", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-115", "Bob, by the right of his group", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-116", "Bob, by the right of his group", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-01", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-89", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-90", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-91", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-98", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-99", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-117", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-119", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-120", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQDMPR-3.1.1.12-D14", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-89", "Alice, who may only peek", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-127", "Alice, who may only peek", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-89", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-99", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-115", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-119", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-120", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQDMPR-3.1.1.12-D14", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "Dave, the owner without the right to write", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-99", "Erin, denied although in the group", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-115", "Erin, denied although in the group", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-120", "Erin, denied although in the group", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-89", "Alice, signed", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-120", "Alice, signed", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "Alice, signed", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "Alice, signed", "kept", "not stored in its queue"),
    *(
        (rule, name, "answer", ACCESS_DENIED_NACK_NAME)
        for name in ("Alice, encrypted", "Alice, to a list", "Alice, no body")
        for rule in ("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-120", "MQQB-3.1.5.8.3-121")
    ),
    *(
        ("MQQB-3.1.5.8.3-127", name, "kept", "not stored in its queue")
        for name in ("Alice, encrypted", "Alice, to a list", "Alice, no body")
    ),
    ("MQQB-3.1.5.8.3-120", "Alice, without NA", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-121", "Erin, denied although in the group", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "Erin, denied although in the group", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-98", "Bob, by the right of his group", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-98", "Alice, signed", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-98", "Carol, signed", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-117", "Carol, signed", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-127", "Alice, without NA", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-99", "a queue manager, as Everyone", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-119", "a queue manager, as Everyone", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-119", "no sender", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "Alice, without NA", "answer", "no acknowledgment"),
    ("MQQB-3.1.5.8.3-90", "Alice, to another queue", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-91", "Alice, to another queue", "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.3-01", "Alice, who may only peek", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQSO-7.3-02", "Dave, the owner without the right to write", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQSO-7.3-D01", "Carol, with the right to write", "kept", "stored in its queue"),
    ("MQSO-7.3-D01", "Alice, who may only peek", "kept", "not stored in its queue"),
    ("MQDMPR-3.1.1.12-D14", "Alice, without NA", "answer", "no acknowledgment"),
)


@RESTRICTED_QUEUE_NEEDS
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_ON_RESTRICTED_QUEUE))
def test_message_to_a_restricted_queue_needs_the_right_to_write(peer, sut, judge):
    """Users who have the right to write, directly or through a group, send messages, which arrive. The SUT refuses
    messages from other users.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature(ALICE)

    def build_message_of_user(user, **fields):
        return secured.message(user, queue="restricted", **fields)

    dispositions = secured.send_and_read_dispositions(
        {
            "Carol, with the right to write": build_message_of_user(CAROL),
            "Bob, by the right of his group": build_message_of_user(BOB),
            "Alice, who may only peek": build_message_of_user(ALICE),
            "Dave, the owner without the right to write": build_message_of_user(DAVE),
            "Erin, denied although in the group": build_message_of_user(ERIN),
            "Alice, signed": sign_message(build_message_of_user(ALICE), SIG20, ALICE.key),
            "Carol, signed": sign_message(build_message_of_user(CAROL), SIG20, CAROL.key),
            "a queue manager, as Everyone": build_message_of_user(ALICE, security=_build_queue_manager_security(peer)),
            "no sender": build_message_of_user(ALICE, security={"ST": SENDER_TYPE_OF_NO_SENDER, "SecurityID": b""}),
            "Alice, without NA": build_message_of_user(ALICE, NA=0, NR=1),
            "Alice, encrypted": encrypt_message(
                sut, build_message_of_user(ALICE), ENHANCED_PRIVACY_LEVEL, protection.RC4, SYMMETRIC_KEYS[128]
            ),
            "Alice, to a list": build_message_of_user(ALICE, several=True),
            "Alice, no body": build_message_of_user(ALICE, body=b""),
        },
        "restricted",
    )
    elsewhere = secured.send_and_read_dispositions({"Alice, to another queue": secured.message(ALICE)})
    judge_dispositions(judge, secured, dispositions | elsewhere, EXPECTED_DISPOSITIONS_ON_RESTRICTED_QUEUE)


def _build_queue_manager_security(peer):
    return {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "SecurityID": peer.identifier.bytes_le}


OFFSET_OF_AUTHORITY_IN_SID, OFFSET_OF_DOMAIN_IN_SID = 7, 12
"""The offsets of the last byte of IdentifierAuthority, and of the second SubAuthority, with which the identifier of a
domain begins. Spec: MS-DTYP 2.4.2.2.
"""


def _change_bit(security_id, at):
    """Return a SID that differs from a given SID in one bit of the byte at an offset."""
    return security_id[:at] + bytes([security_id[at] ^ 1]) + security_id[at + 1 :]


def _build_sid_with_further_authority(security_id):
    """Return a SID that has one SubAuthority more than a given SID."""
    return security_id[:1] + bytes([security_id[1] + 1]) + security_id[2:] + bytes([1, 0, 0, 0])


SIDS_SIMILAR_TO_SID_OF_ALICE = {
    "the SID of Alice in another domain": _change_bit(ALICE.security_id, OFFSET_OF_DOMAIN_IN_SID),
    "the SID of Alice with another IdentifierAuthority": _change_bit(ALICE.security_id, OFFSET_OF_AUTHORITY_IN_SID),
    "the SID of Alice with a further SubAuthority": _build_sid_with_further_authority(ALICE.security_id),
}
"""SIDs without an account, by name. Each SID differs from Alice's SID in one part."""
EXPECTED_DISPOSITIONS_ON_UNRESTRICTED_QUEUE = (
    ("MQQB-3.1.5.8.3-89", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-90", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-91", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-99", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-105", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-110", "Alice", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "answer", ARRIVAL_ACK_NAME),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "kept", "stored in its queue"),
    ("MQQB-3.1.5.8.3-98", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-102", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-105", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    *(
        ("MQQB-3.1.5.8.3-105", name, attribute, expected)
        for name in SIDS_SIMILAR_TO_SID_OF_ALICE
        for attribute, expected in (("answer", ACCESS_DENIED_NACK_NAME), ("kept", "not stored in its queue"))
    ),
    ("MQQB-3.1.5.8.3-110", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-120", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "a SID without account", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-102", "a malformed SID", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-102", "an empty SID", "answer", ACCESS_DENIED_NACK_NAME),
    *(
        (rule, "an acknowledgment of a SID without account", "kept", "not stored in its queue")
        for rule in ("MQQB-3.1.5.8.3-01", "MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-120", "MQQB-3.1.5.8.3-127")
    ),
)


@malforms("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-14", "MQMQ-2.2.20.6-20")
@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_ON_UNRESTRICTED_QUEUE))
def test_message_to_an_open_queue_needs_an_account(peer, sut, judge):
    """A user and a queue manager send messages to a queue to which Everyone may write, and these messages arrive. The
    SUT refuses messages from a SID without an account.
    """
    secured = SecuredMessageSender(peer, sut)
    dispositions = secured.send_and_read_dispositions(
        {
            "Alice": secured.message(),
            "a queue manager, as Everyone": secured.message(security=_build_queue_manager_security(peer)),
            "a SID without account": secured.message(MALLORY),
            **{
                name: secured.message(security={"SecurityID": security_id})
                for name, security_id in SIDS_SIMILAR_TO_SID_OF_ALICE.items()
            },
            "a malformed SID": secured.message(security={"SecurityID": b"\1\2\3\4"}),
            "an empty SID": secured.message(security={"SecurityID": b""}),
            "an acknowledgment of a SID without account": secured.message(MALLORY, MessageClass=REACH_QUEUE_CLASS),
        }
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_ON_UNRESTRICTED_QUEUE)


EXPECTED_ACKNOWLEDGMENT_BY_SENDER = {"Alice": ARRIVAL_ACK_NAME, "a SID without account": ACCESS_DENIED_NACK_NAME}
RULES_OF_PUBLIC_QUEUES = ("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91", "MQQB-3.1.5.8.3-102")


@RESTRICTED_QUEUE_NEEDS
@needs("directory")
@covers(*RULES_OF_PUBLIC_QUEUES)
def test_message_to_an_open_public_queue_needs_an_account(peer, sut, judge):
    """A user sends a message to a public queue with the default descriptor, and the message arrives. The SUT refuses a
    message from a SID without an account.
    """
    secured, name = SecuredMessageSender(peer, sut), f"mqc-{sut.own}-public"
    sut.create_queue(name)
    to = rf"TCP:{sut.address}\{name}"
    users = {"Alice": ALICE, "a SID without account": MALLORY}
    sent = {sender: secured.message(user, destination=to) for sender, user in users.items()}
    dispositions = secured.send_and_read_dispositions(sent)
    table = [
        (rule, sender, "answer", expected)
        for rule in RULES_OF_PUBLIC_QUEUES
        for sender, expected in EXPECTED_ACKNOWLEDGMENT_BY_SENDER.items()
    ]
    judge_dispositions(judge, secured, dispositions, table)
    sut.delete_queue(name)


WRITE_MESSAGE_RIGHT = 0x04
"""The right MQSEC_WRITE_MESSAGE. Spec: MS-MQMQ 2.2.25."""
EXPECTED_DISPOSITIONS_IF_GROUP_IS_DENIED_WRITE_ACCESS = (
    ("MQSO-7.3-02", ALICE.name, "answer", ARRIVAL_ACK_NAME),
    ("MQSO-7.3-02", BOB.name, "answer", ACCESS_DENIED_NACK_NAME),
)


@RESTRICTED_QUEUE_NEEDS
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_IF_GROUP_IS_DENIED_WRITE_ACCESS))
def test_denial_for_group_applies_to_its_members(peer, sut, judge):
    """A queue denies the right to write to a group and grants it to everyone. The message from Alice arrives. The SUT
    refuses the message from Bob, who is a member of the group.
    """
    security = build_security_descriptor(
        denied=((SENDERS_GROUP_SID, WRITE_MESSAGE_RIGHT),),
        granted=((EVERYONE_SID, WRITE_MESSAGE_RIGHT),),
        denials_first=True,
    )
    try:
        name = sut.new_queue("group", security_base64=base64.b64encode(security).decode())
    except ControlRefused as refused:
        judge.end_unobservable(
            f"the SUT's control channel cannot set the security descriptor of a new queue: {refused}"
        )
        return
    secured, to = SecuredMessageSender(peer, sut), rf"TCP:{sut.address}\{name}"
    dispositions = secured.send_and_read_dispositions(
        {user.name: secured.message(user, destination=to) for user in (ALICE, BOB)}
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_IF_GROUP_IS_DENIED_WRITE_ACCESS)


EXPECTED_DISPOSITIONS_IF_ONLY_GROUP_HAS_WRITE_ACCESS = (
    *(
        (rule, name, "answer", expected)
        for rule in ("MQQB-3.1.5.8.3-114", "MQQB-3.1.5.8.3-115", "MQQB-3.1.5.8.3-116")
        for name, expected in (
            ("Bob, encrypted", ARRIVAL_ACK_NAME),
            ("Bob, transactional", ARRIVAL_ACK_NAME),
            ("Alice, transactional", ACCESS_DENIED_NACK_NAME),
        )
    ),
)


@RESTRICTED_QUEUE_NEEDS
@covers("MQQB-3.1.5.8.3-114", "MQQB-3.1.5.8.3-115", "MQQB-3.1.5.8.3-116")
def test_right_of_group_applies_to_encrypted_and_transactional_messages(peer, sut, judge):
    """Two queues grant the right to write to a group. An encrypted and a transactional message from Bob, who is a
    member of the group, arrive. The SUT refuses a transactional message from Alice.
    """
    security = base64.b64encode(build_security_descriptor(granted=((SENDERS_GROUP_SID, WRITE_MESSAGE_RIGHT),))).decode()
    try:
        names = [sut.new_queue("group", security_base64=security, transactional=one) for one in (False, True)]
    except ControlRefused as refused:
        judge.end_unobservable(
            f"the SUT's control channel cannot set the security descriptor of a new queue: {refused}"
        )
        return
    secured, (plain, transactional) = SecuredMessageSender(peer, sut), (rf"TCP:{sut.address}\{one}" for one in names)
    sequence = secured.create_sequence()
    in_sequence: dict[str, Any] = {"queue": "transactional", "destination": transactional, "sequence": sequence}
    dispositions = secured.send_and_read_dispositions(
        {
            "Bob, encrypted": encrypt_message(
                sut,
                secured.message(BOB, destination=plain),
                ENHANCED_PRIVACY_LEVEL,
                protection.RC4,
                SYMMETRIC_KEYS[128],
            ),
            "Bob, transactional": secured.message(BOB, **in_sequence),
            "Alice, transactional": secured.message(ALICE, **in_sequence),
        }
    )
    judge_dispositions(judge, secured, dispositions, EXPECTED_DISPOSITIONS_IF_ONLY_GROUP_HAS_WRITE_ACCESS)


GENERIC_READ_RIGHT, GENERIC_WRITE_RIGHT, GENERIC_ALL_RIGHTS = 0x8000_0000, 0x4000_0000, 0x1000_0000
"""Generic rights. Spec: MS-DTYP 2.4.3."""
GENERIC_RIGHT_CASES = (
    (ALICE, GENERIC_WRITE_RIGHT, ARRIVAL_ACK_NAME),
    (BOB, GENERIC_READ_RIGHT, ACCESS_DENIED_NACK_NAME),
    (CAROL, GENERIC_ALL_RIGHTS, ARRIVAL_ACK_NAME),
)


@RESTRICTED_QUEUE_NEEDS
@covers("MQQB-3.1.5.8.3-99")
def test_generic_rights_include_the_right_to_write(peer, sut, judge):
    """A queue grants GENERIC_WRITE to Alice, GENERIC_READ to Bob and GENERIC_ALL to Carol. Only the messages from Alice
    and Carol arrive.
    """
    security = build_security_descriptor(granted=tuple((user.sid, right) for user, right, _ in GENERIC_RIGHT_CASES))
    try:
        name = sut.new_queue("generic", security_base64=base64.b64encode(security).decode())
    except ControlRefused as refused:
        judge.end_unobservable(
            f"the SUT's control channel cannot set the security descriptor of a new queue: {refused}"
        )
        return
    secured, to = SecuredMessageSender(peer, sut), rf"TCP:{sut.address}\{name}"
    dispositions = secured.send_and_read_dispositions(
        {user.name: secured.message(user, destination=to) for user, *_ in GENERIC_RIGHT_CASES}
    )
    table = [("MQQB-3.1.5.8.3-99", user.name, "answer", expected) for user, _, expected in GENERIC_RIGHT_CASES]
    judge_dispositions(judge, secured, dispositions, table)


ALL_RIGHTS_BUT_WRITE = 0x000F_003B
"""Each right of MS-MQMQ 2.2.25 except MQSEC_WRITE_MESSAGE."""
INHERITED_ACE_FLAG = 0x10
"""The flag INHERITED_ACE. Spec: MS-DTYP 2.4.4.1."""
SECURITY_DESCRIPTOR_CASES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "all rights but write",
        {"granted": ((EVERYONE_SID, ALL_RIGHTS_BUT_WRITE),)},
        "MQQB-3.1.5.8.3-117",
        ACCESS_DENIED_NACK_NAME,
    ),
    ("only write", {"granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),)}, "MQQB-3.1.5.8.3-117", ARRIVAL_ACK_NAME),
    (
        "other rights denied",
        {
            "denied": ((EVERYONE_SID, ALL_RIGHTS_BUT_WRITE),),
            "granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),),
            "denials_first": True,
        },
        "MQQB-3.1.5.8.3-117",
        ARRIVAL_ACK_NAME,
    ),
    (
        "an entry for inheritance",
        {"granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),), "flags": INHERIT_ONLY_FLAG},
        "MQQB-3.1.5.8.3-99",
        ACCESS_DENIED_NACK_NAME,
    ),
    (
        "an inherited entry",
        {"granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),), "flags": INHERITED_ACE_FLAG},
        "MQQB-3.1.5.8.3-99",
        ARRIVAL_ACK_NAME,
    ),
    ("an empty list", {"owner": ALICE.sid, "empty_list": True}, "MQQB-3.1.5.8.3-99", ACCESS_DENIED_NACK_NAME),
    (
        "write granted, then denied",
        {"granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),), "denied": ((ALICE.sid, WRITE_MESSAGE_RIGHT),)},
        "MQQB-3.1.5.8.3-99",
        ARRIVAL_ACK_NAME,
    ),
    (
        "write granted by the second entry",
        {"granted": ((BOB.sid, WRITE_MESSAGE_RIGHT), (ALICE.sid, WRITE_MESSAGE_RIGHT))},
        "MQQB-3.1.5.8.3-99",
        ARRIVAL_ACK_NAME,
    ),
    (
        "write denied to SELF",
        {
            "denied": ((PRINCIPAL_SELF_SID, WRITE_MESSAGE_RIGHT),),
            "granted": ((EVERYONE_SID, WRITE_MESSAGE_RIGHT),),
            "denials_first": True,
        },
        "MQQB-3.1.5.8.3-119",
        ARRIVAL_ACK_NAME,
    ),
)


@RESTRICTED_QUEUE_NEEDS
@covers("MQQB-3.1.5.8.3-99", "MQQB-3.1.5.8.3-117", "MQQB-3.1.5.8.3-119")
def test_access_follows_the_entries_of_the_descriptor(peer, sut, judge):
    """Alice sends a message to each of several queues, whose descriptors grant or deny the right to write in different
    ways, also by entries for inheritance. The entries of the descriptor, in their order, determine whether the message
    arrives.
    """
    try:
        names = {
            case: sut.new_queue(f"d{at}", security_base64=base64.b64encode(build_security_descriptor(**parts)).decode())
            for at, (case, parts, *_) in enumerate(SECURITY_DESCRIPTOR_CASES)
        }
    except ControlRefused as refused:
        judge.end_unobservable(
            f"the SUT's control channel cannot set the security descriptor of a new queue: {refused}"
        )
        return
    secured = SecuredMessageSender(peer, sut)
    dispositions = secured.send_and_read_dispositions(
        {case: secured.message(ALICE, destination=rf"TCP:{sut.address}\{name}") for case, name in names.items()}
    )
    table = [(rule, case, "answer", expected) for case, _, rule, expected in SECURITY_DESCRIPTOR_CASES]
    judge_dispositions(judge, secured, dispositions, table)


@RESTRICTED_QUEUE_NEEDS
@covers("MQQB-3.1.5.8.3-01")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of arrival"))
def test_message_without_security_header_is_not_refused_for_its_signature(peer, sut, judge):
    """The peer sends a message without a SecurityHeader to a restricted queue. Either the message arrives, or the SUT
    refuses it with the class ACCESS_DENIED (erratum E83) and no other class.
    """
    secured = SecuredMessageSender(peer, sut)
    disposition = secured.send_and_read_dispositions({"": secured.plain(queue="restricted")}, "restricted")[""]
    judge(
        "MQQB-3.1.5.8.3-01",
        expected=holds("the message is in its queue, or the SUT refuses it with NACK_ACCESS_DENIED (erratum E83)"),
        observed=disposition.answer in (ARRIVAL_ACK_NAME, ACCESS_DENIED_NACK_NAME) or disposition.answer,
        evidence=disposition.frames,
        errata="E83",
    )


EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES = (
    ("MQQB-3.1.5.8.3-124", "Alice", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-124", "Alice", "kept", "stored in its queue"),
    ("MQQB-3.1.5.8.3-98", "Alice", "kept", "stored in its queue"),
    ("MQQB-3.1.5.8.3-98", "a SID without account", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-102", "a SID without account", "final", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "kept", "stored in its queue"),
    ("MQQB-3.1.5.8.3-97", "a queue manager, as Everyone", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-120", "a SID without account", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-124", "a second message without account", "final", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "a second message without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "a second message without account", "kept", "not stored in its queue"),
    ("MQQB-3.1.5.8.3-124", "a SID without account", "final", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-121", "a SID without account", "answer", ACCESS_DENIED_NACK_NAME),
    ("MQQB-3.1.5.8.3-127", "a SID without account", "kept", "not stored in its queue"),
)


@NEEDED_SECURITY_FACILITIES
@covers(*(rule for rule, *_ in EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES))
def test_transactional_message_without_access_has_final_ack(peer, sut, judge):
    """The peer sends a transactional message from a SID without an account, and the SUT sends a FinalAck of class
    ACCESS_DENIED. The SUT sends no FinalAck for a message from a user.
    """
    secured = SecuredMessageSender(peer, sut)
    packets = {
        "Alice": secured.message(queue="transactional"),
        "a queue manager, as Everyone": secured.message(
            queue="transactional", security=_build_queue_manager_security(peer)
        ),
        "a SID without account": secured.message(MALLORY, queue="transactional"),
        "a second message without account": secured.message(MALLORY, queue="transactional"),
    }
    judge_dispositions(
        judge,
        secured,
        secured.send_and_read_dispositions(packets, "transactional"),
        EXPECTED_DISPOSITIONS_OF_TRANSACTIONAL_MESSAGES,
    )
