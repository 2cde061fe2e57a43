"""MS-MQQB 3.1.1.3.2: the security attributes that an application requested for a message, and the results of its
security checks, survive the process.
"""

from core_network import PLAIN, TRANSACTIONAL, Network, guid, private
from core_secure import arrived, arrived_transactional, receiver_config, sender_config

BODY = b"nobody on the way may read this"
ASKED = {"privacy_level": "advanced", "authentication_level": "sig20"}


def durable_pair():
    network = Network()
    routes = {guid(1): "10.0.0.1", guid(2): "10.0.0.2"}
    sender = network.host(1, security=sender_config(), routes=routes)
    return network, sender, network.host(2, security=receiver_config(), routes=routes)


def named(host, queue):
    """Return the private format name of a queue of host 2."""
    return private(2, host.core.adm.QueueCollection[queue].PrivateQueueNumber)


def test_message_waiting_at_restart_is_signed_and_encrypted_afterwards():
    network, sender, receiver = durable_pair()
    receiver.reachable = False
    sender.send(named(receiver, PLAIN), body=BODY, recoverable=True, **ASKED)
    sender.send(named(receiver, TRANSACTIONAL), body=BODY, transactional=True, **ASKED)
    network.kill(sender)
    receiver.reachable = True
    network.advance(600_000)
    assert BODY not in b"".join(data for _, data in sender.sent)
    for message in (*arrived(receiver), *arrived_transactional(receiver)):
        assert message["body"] == BODY.decode()
        assert message["security"]["authentication_level"] == "sig20"
        assert message["security"]["privacy_level"] == "advanced"
    assert (len(arrived(receiver)), len(arrived_transactional(receiver))) == (1, 1)


def test_received_message_stays_decrypted_and_authenticated_after_restart():
    network, sender, receiver = durable_pair()
    sender.send(named(receiver, PLAIN), body=BODY, recoverable=True, **ASKED)
    before = arrived(receiver)
    network.kill(receiver)
    assert arrived(receiver) == before
    assert before[0]["security"]["authentication_level"] == "sig20"
