"""MS-MQQB 3.1.5.8.3, 3.1.7.1.5: keys, certificates and descriptors that a queue manager reads from the directory."""

from dataclasses import replace

import pytest
from core_enterprise import NORTH, RECEIVER, SENDER, Enterprise, machine, two_sites
from core_network import PLAIN, guid, private
from core_secure import ALICE, arrived, manager, receiver_config, remote_keys, sender_config, user_messages

from reference_qm.directory import Queue, QueueManager, User, build_equality_filter
from reference_qm.directory.enums import QueueType
from reference_qm.security import Acl, SecurityConfig, SecurityDescriptor, UserSignCerts

SIGNED = {"authentication_level": "sig20"}
TO = private(RECEIVER, 1)
ALICE_USER = User(
    SecurityIdentifier=ALICE.SecurityIdentifier.build(),
    CertificateDigestList=tuple(one.Digest for one in ALICE.Certificates.Certificates),
    Certificates=ALICE.Certificates.build(),
)


def enterprise(*more, **security):
    """Return sender and receiver in two sites; their configurations do not contain the values that the directory should
    return.
    """
    made = Enterprise([*two_sites(), *more], numbers=(2, 3))
    made.join(SENDER, security=security.get("sender", sender_config(remote_keys={})))
    unregistered = replace(ALICE, certificates=(), key=None)
    made.join(RECEIVER, security=security.get("receiver", receiver_config(accounts=(unregistered,))))
    made.settle()
    return made


def published(made, number):
    found = made.directory.read("QueueManager", build_equality_filter("Identifier", guid(number))).rDirectoryObject
    assert isinstance(found, QueueManager)
    return found


def test_public_keys_are_published_and_found_by_senders():
    made = enterprise()
    assert published(made, RECEIVER).PublicEncryptionKeyList == remote_keys().build()
    made[SENDER].send(TO, body=b"through two gates", privacy_level="advanced")
    made.settle()
    (message,) = arrived(made[RECEIVER])
    assert (message["body"], message["security"]["privacy_level"]) == ("through two gates", "advanced")


def test_router_forwards_message_that_it_cannot_read():
    made = enterprise()
    made[SENDER].send(TO, body=b"secret", privacy_level="advanced")
    made.settle()
    sent = [packet for number in (SENDER, 2, 3) for packet in user_messages(made[number])]
    assert len({packet.MessagePropertiesHeader.MessageBody for packet in sent}) == 1
    assert len(sent) == 3
    assert b"secret" not in b"".join(packet.build() for packet in sent)


def test_keys_that_the_directory_has_already_are_not_written_again():
    made = enterprise()
    before = published(made, RECEIVER)
    made[RECEIVER].restart()
    made.settle()
    assert published(made, RECEIVER) == before


def test_queue_manager_without_keys_leaves_directory_keys_unchanged():
    keys = remote_keys().build()
    other = machine(9, NORTH, PublicEncryptionKeyList=keys)
    made = enterprise(other)
    host = made.join(9, security=SecurityConfig())
    made.settle()
    assert published(made, 9).PublicEncryptionKeyList == keys
    assert manager(host)["PublicEncryptionKeyList"] == keys.hex()


@pytest.mark.parametrize(
    ("users", "accepted"),
    [
        ([ALICE_USER], True),
        ([], False),
        ([replace(ALICE_USER, Certificates=UserSignCerts().build())], False),
        ([replace(ALICE_USER, Certificates=b"\xff\xff\xff\xff")], False),
    ],
    ids=["registered", "no user", "no certificate", "no such structure"],
)
def test_a_certificate_must_be_registered_in_the_directory(users, accepted):
    made = enterprise()
    for user in users:
        made.directory.provision(user)
    made[SENDER].send(TO, **SIGNED)
    made.settle()
    assert len(arrived(made[RECEIVER])) == accepted


@pytest.mark.parametrize(
    ("security", "accepted"),
    [
        (SecurityDescriptor().build(), True),
        (SecurityDescriptor(Dacl=Acl()).build(), False),
        (b"\1", False),
        (None, True),
    ],
    ids=["everybody", "nobody", "no such structure", "not set"],
)
def test_the_descriptor_of_a_public_queue_is_that_of_the_directory(security, accepted):
    made = enterprise()
    host = made[RECEIVER]
    queue = host.core.adm.QueueCollection[PLAIN]
    registered = made.directory.provision(Queue(Pathname=f"host{RECEIVER}\\plain", Security=security))
    queue.QueueType, queue.Identifier = QueueType.PUBLIC, registered.Identifier
    made[SENDER].send(TO, sender="alice")
    made.settle()
    assert len(queue.MessagePositionList) == accepted
