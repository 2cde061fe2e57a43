"""MS-MQQB 3.1.5.8.3, 3.1.7.1.5: keys, certificates and descriptors that the directory has."""

from dataclasses import replace

import pytest
from core_enterprise import RECEIVER, SENDER, Enterprise, two_sites
from core_network import PLAIN, guid, private
from core_secure import ALICE, arrived, receiver_config, remote_keys, sender_config

from reference_qm.directory import Queue, QueueManager, equals
from reference_qm.directory.enums import QueueType
from reference_qm.security import Acl, SecurityDescriptor

TO = private(RECEIVER, 1)


def enterprise(*more, **security):
    """Return sender and receiver of two sites; neither is configured with what the directory should return."""
    made = Enterprise([*two_sites(), *more], numbers=(2, 3))
    made.join(SENDER, security=security.get("sender", sender_config(remote_keys={})))
    unregistered = replace(ALICE, certificates=(), key=None)
    made.join(RECEIVER, security=security.get("receiver", receiver_config(accounts=(unregistered,))))
    made.settle()
    return made


def published(made, number):
    found = made.directory.read("QueueManager", equals("Identifier", guid(number))).rDirectoryObject
    assert isinstance(found, QueueManager)
    return found


def test_public_keys_are_published_and_found_by_senders():
    made = enterprise()
    assert published(made, RECEIVER).PublicEncryptionKeyList == remote_keys().build()
    made[SENDER].send(TO, body=b"through two gates", privacy_level="advanced")
    made.settle()
    (message,) = arrived(made[RECEIVER])
    assert (message["body"], message["security"]["privacy_level"]) == ("through two gates", "advanced")


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
