"""MS-MQSO 6.4.3.2: public keys of other queue managers that came from the directory are used for a limited time."""

from __future__ import annotations

from core_enterprise import RECEIVER, SENDER, Enterprise
from core_network import guid
from core_secure import remote_keys

from reference_qm.directory import QueueManager


def keys_of_receiver(enterprise: Enterprise):
    return enterprise[SENDER].core.security_lookup.find_public_keys(guid(RECEIVER), enterprise.network.now)


def test_expired_public_keys_are_read_again_and_lifetime_restarts():
    enterprise, keys = Enterprise(), remote_keys()
    assert keys_of_receiver(enterprise) is None, "none are published"
    for published in (keys.build(), b""):
        enterprise.update(QueueManager(Identifier=guid(RECEIVER), PublicEncryptionKeyList=published))
        enterprise.network.advance(1_199)
        before = keys_of_receiver(enterprise)
        assert (before is None) is bool(published), "what was read before counts"
        enterprise.network.advance(1)
        assert (keys_of_receiver(enterprise) == keys) is bool(published)
