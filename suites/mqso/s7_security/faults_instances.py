"""Faults that break rules of MS-MQSO 7.4.1 for some users, certificates, keys or states only."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.store.enterprise import build_public_key_list
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.security.directory_keys import UserSignCerts


@fault("receiver-uses-certificates-of-first-user-for-all-messages", breaks="MQSO-7.4.1.4.2-D01")
class ReceiverUsesCertificatesOfFirstUserForAllMessages(SecurityLookup):
    """For the messages of all users, the receiver uses the certificates of the first user that it found."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        known: list[UserSignCerts] = self.__dict__.setdefault("known", [])
        found = super().find_user_certificates(security_id)
        if found is not None:
            known.append(found)
        return known[0] if known else None


@fault("queue-manager-writes-no-signing-keys-to-directory-object", breaks="MQSO-7.4.1.3-04")
class QueueManagerWritesNoSigningKeysToDirectoryObject(DirectoryClient):
    """The queue manager does not write its public signing keys to its directory object."""

    def publish_public_keys(self) -> None:
        state, security = self.qm.enterprise.state, self.qm.config.security
        keys, signing_keys = (
            build_public_key_list(security.encryption_keys),
            build_public_key_list(security.signing_keys),
        )
        state.LocalQueueManager = replace(
            state.LocalQueueManager, PublicEncryptionKeyList=keys, PublicSigningKeyList=signing_keys
        )
        self.qm.directory_link.write(
            DirectoryWriteRequest(state.LocalQueueManager, ("PublicEncryptionKeyList",)), lambda answer: None
        )


@fault("queue-manager-writes-only-first-key-to-directory-object", breaks="MQSO-7.4.1.3-04")
class QueueManagerWritesOnlyFirstKeyToDirectoryObject(DirectoryClient):
    """The queue manager writes only the public key of its first provider to its directory object."""

    def publish_public_keys(self) -> None:
        super().publish_public_keys()
        first_key = dict(list(self.qm.config.security.encryption_keys.items())[:1])
        published = replace(
            self.qm.enterprise.state.LocalQueueManager, PublicEncryptionKeyList=build_public_key_list(first_key)
        )
        self.qm.directory_link.write(
            DirectoryWriteRequest(published, ("PublicEncryptionKeyList",)), lambda answer: None
        )
