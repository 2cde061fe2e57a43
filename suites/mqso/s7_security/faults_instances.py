"""Faults that break rules of MS-MQSO 7.4.1 for some users, certificates, keys or states only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.security.directory_keys import UserSignCerts


@fault("receiver-finds-only-first-certificate-of-user", breaks="MQSO-7.4.1.4.2-D01")
class ReceiverFindsOnlyFirstCertificateOfUser(SecurityLookup):
    """The receiver looks only at the first of the registered certificates of a user."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        found = super().find_user_certificates(security_id)
        return found and UserSignCerts(found.Certificates[:1])


@fault("receiver-finds-first-user-for-later-messages", breaks="MQSO-7.4.1.4.2-D01")
class ReceiverFindsFirstUserForLaterMessages(SecurityLookup):
    """The receiver uses the certificates of the first user that it found for the messages of all users."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        known: list[UserSignCerts] = self.__dict__.setdefault("known", [])
        found = super().find_user_certificates(security_id)
        if found is not None:
            known.append(found)
        return known[0] if known else None


@fault("receiver-does-not-look-again-for-unknown-user", breaks="MQSO-7.4.1.4.2-05")
class ReceiverDoesNotLookAgainForUnknownUser(SecurityLookup):
    """The receiver does not look in the directory for a user that an earlier search did not find."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        unknown: set[bytes] = self.__dict__.setdefault("unknown", set())
        if security_id in unknown:
            return None
        found = super().find_user_certificates(security_id)
        if found is None:
            unknown.add(security_id)
        return found


@fault("receiver-keeps-certificates-of-user", breaks="MQSO-7.4.1.4.2-05")
class ReceiverKeepsCertificatesOfUser(SecurityLookup):
    """The receiver uses the certificates that it found for a user at first, and does not look for the user again."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        known: dict[bytes, UserSignCerts | None] = self.__dict__.setdefault("known", {})
        if security_id not in known:
            known[security_id] = super().find_user_certificates(security_id)
        return known[security_id]


@fault("queue-manager-object-lacks-signing-keys", breaks="MQSO-7.4.1.3-04")
class QueueManagerObjectLacksSigningKeys(DirectoryClient):
    """The queue manager does not write its public signing keys to its directory object."""

    def publish_public_keys(self) -> None:
        security = self.qm.config.security
        keys = dict(security.signing_keys)
        security.signing_keys.clear()  # type: ignore[attr-defined]
        super().publish_public_keys()
        security.signing_keys.update(keys)  # type: ignore[attr-defined]


@fault("queue-manager-object-has-key-of-first-provider-only", breaks="MQSO-7.4.1.3-04")
class QueueManagerObjectHasKeyOfFirstProviderOnly(DirectoryClient):
    """The queue manager writes only the public key of its first provider to its directory object."""

    def publish_public_keys(self) -> None:
        security = self.qm.config.security
        keys = dict(security.encryption_keys)
        for name in list(keys)[1:]:
            security.encryption_keys.pop(name)  # type: ignore[attr-defined]
        super().publish_public_keys()
        security.encryption_keys.update(keys)  # type: ignore[attr-defined]


@fault("queue-manager-publishes-keys-only-once", breaks="MQSO-7.4.1.3-04")
class QueueManagerPublishesKeysOnlyOnce(DirectoryClient):
    """The queue manager does not write its public keys again when its directory object has lost them."""

    def publish_public_keys(self) -> None:
        if not self.__dict__.get("published"):
            super().publish_public_keys()
        self.__dict__["published"] = True
