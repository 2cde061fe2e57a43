"""Provide a SUT with users, certificates, keys and a restricted queue for checks of security rules.

The keys are public and the same for everyone (harness/sut/provisioned). Never connect a SUT that has these keys to
a network. ``mqconform provision`` writes the keys for a SUT; the virtual SUT gets them from this module.
"""

from __future__ import annotations

import base64
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from harness.errors import HarnessError
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    RsaKey,
    build_public_key_list,
    read_private_key,
)
from reference_qm.config import QueueSettings
from reference_qm.security import (
    Ace,
    AceType,
    Acl,
    MqdsPublicKeys,
    QueueAccess,
    SecurityConfig,
    SecurityDescriptor,
    Sid,
    UserAccount,
)

PROVISIONED_FOLDER = Path(__file__).resolve().parent / "provisioned"
KEY_FILE_BY_PROVIDER = {BASE_PROVIDER: "base", ENHANCED_PROVIDER: "enhanced", ADVANCED_PROVIDER: "advanced"}
_DOMAIN_SID = "S-1-5-21-1801-3527-2103"
VISITORS_GROUP_SID, SENDERS_GROUP_SID = f"{_DOMAIN_SID}-2000", f"{_DOMAIN_SID}-2001"
"""A group without a right to the restricted queue, and a group whose members may write to that queue."""


@dataclass(frozen=True, slots=True)
class ProvisionedUser:
    """A test user. ``sid`` is the SID in the string form of MS-DTYP 2.4.2.1."""

    name: str
    sid: str
    groups: tuple[str, ...] = ()

    @property
    def security_id(self) -> bytes:
        """The SID of the user in the binary form that packets contain (MS-DTYP 2.4.2.2)."""
        authority, *subs = (int(part) for part in self.sid.split("-")[2:])
        parts = b"".join(sub.to_bytes(4, "little") for sub in subs)
        return bytes([1, len(subs)]) + authority.to_bytes(6, "big") + parts

    @property
    def certificate(self) -> bytes:
        """The certificate of the user in DER format."""
        return _read_certificate(self.name)

    @property
    def key(self) -> RsaKey:
        """The private key that belongs to the user's certificate."""
        return _read_key(f"{self.name}.key")


ALICE = ProvisionedUser("alice", f"{_DOMAIN_SID}-1001")
BOB = ProvisionedUser("bob", f"{_DOMAIN_SID}-1002", (VISITORS_GROUP_SID, SENDERS_GROUP_SID))
CAROL = ProvisionedUser("carol", f"{_DOMAIN_SID}-1003")
DAVE, ERIN = (
    ProvisionedUser("dave", f"{_DOMAIN_SID}-1004"),
    ProvisionedUser("erin", f"{_DOMAIN_SID}-1005", (SENDERS_GROUP_SID,)),
)
USERS = (ALICE, BOB, CAROL, DAVE, ERIN)
"""The test users. Alice may write to every queue except the restricted queue. Bob may write to the restricted queue
as a member of one of his two groups, and Carol as a user. Erin is denied access to the restricted queue.
"""
PRINCIPAL_SELF_SID = "S-1-5-10"
OWNER_OF_RESTRICTED_QUEUE = DAVE
"""The owner of the restricted queue. Ownership does not include the right to write to the queue."""
DENIED_RIGHT_BY_SID = {ERIN.sid: "write_message", CAROL.sid: "peek_message"}
GRANTED_RIGHT_BY_SID = {
    SENDERS_GROUP_SID: "write_message",
    CAROL.sid: "write_message",
    ALICE.sid: "peek_message",
    PRINCIPAL_SELF_SID: "write_message",
}
"""The access rights to the restricted queue, by SID. As usual, entries that deny access precede the other entries.
"""
MALLORY = ProvisionedUser("mallory", f"{_DOMAIN_SID}-1666")
"""An account that the SUT does not know."""
GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY = UUID("6d71636f-6e66-4f72-8d00-000000000002")
"""The identifier of a queue manager at the peer's address that has no public keys for the two stronger providers.
"""
GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS = UUID("6d71636f-6e66-4f72-8d00-000000000003")
"""The identifier of a queue manager at the peer's address whose public keys are unknown."""


@cache
def _read_certificate(name: str) -> bytes:
    return x509.load_pem_x509_certificate((PROVISIONED_FOLDER / f"{name}.pem").read_bytes()).public_bytes(Encoding.DER)


@cache
def _read_key(name: str) -> RsaKey:
    return read_private_key((PROVISIONED_FOLDER / f"{name}.pem").read_bytes())


@cache
def _read_queue_manager_key(name: str) -> rsa.RSAPrivateKey:
    key = load_pem_private_key((PROVISIONED_FOLDER / f"{name}.pem").read_bytes(), None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise HarnessError(f"{PROVISIONED_FOLDER / name}.pem is not an RSA key")
    return key


def load_peer_keys() -> dict[str, RsaKey]:
    """Return the encryption keys of the peer, by provider."""
    return {provider: _read_key(f"peer_{name}") for provider, name in KEY_FILE_BY_PROVIDER.items()}


def load_long_peer_keys() -> dict[str, RsaKey]:
    """Return the encryption keys of the peer, by provider, with a key of 2,048 bits for the two stronger providers."""
    return load_peer_keys() | dict.fromkeys((ENHANCED_PROVIDER, ADVANCED_PROVIDER), _read_key("peer_long"))


def load_second_peer_keys() -> dict[str, RsaKey]:
    """Return a second set of encryption keys for the peer, by provider. A check can replace the peer's keys in the
    directory by this set. It consists of the provisioned keys of a SUT.
    """
    return {provider: _read_key(f"encryption_{name}") for provider, name in KEY_FILE_BY_PROVIDER.items()}


def load_sut_keys() -> bytes:
    """Return the PublicEncryptionKeyList of a SUT that has the provisioned keys."""
    return build_public_key_list(load_second_peer_keys())


def load_known_keys(peer: UUID) -> dict[UUID, bytes]:
    """Return the PublicEncryptionKeyLists that the SUT knows, by QueueManager.Identifier."""
    keys = load_peer_keys()
    return {
        peer: build_public_key_list(keys),
        GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY: build_public_key_list({BASE_PROVIDER: keys[BASE_PROVIDER]}),
    }


@cache
def build_virtual_security(peer: UUID) -> SecurityConfig:
    """Return the security configuration of the reference in virtual time."""
    return SecurityConfig(
        encryption_keys={
            provider: _read_queue_manager_key(f"encryption_{name}") for provider, name in KEY_FILE_BY_PROVIDER.items()
        },
        signing_keys={
            provider: _read_queue_manager_key(f"encryption_{name}") for provider, name in KEY_FILE_BY_PROVIDER.items()
        },
        accounts=tuple(
            UserAccount(
                user.name,
                Sid.of(user.sid),
                frozenset(Sid.of(group) for group in user.groups),
                (user.certificate,),
                _read_queue_manager_key(f"{user.name}.key"),
            )
            for user in USERS
        ),
        remote_keys={guid: MqdsPublicKeys.parse(keys) for guid, keys in load_known_keys(peer).items()},
    )


@cache
def build_restricted_queue(name: str) -> QueueSettings:
    """Return the queue to which only the group and Carol may write."""
    aces = [
        Ace(kind, QueueAccess[f"MQSEC_{right.upper()}"], Sid.of(sid))
        for kind, rights in (
            (AceType.ACCESS_DENIED, DENIED_RIGHT_BY_SID),
            (AceType.ACCESS_ALLOWED, GRANTED_RIGHT_BY_SID),
        )
        for sid, right in rights.items()
    ]
    return QueueSettings(
        name, security=SecurityDescriptor(Sid.of(OWNER_OF_RESTRICTED_QUEUE.sid), None, Acl(tuple(aces)))
    )


def write_provisions(out: Path, peer: UUID, restricted: str, peer_address: str) -> str:
    """Create a folder with the keys and certificates. Return the TOML tables with which ``mqconform serve`` uses
    them.
    """
    out.mkdir(parents=True, exist_ok=True)
    for file in PROVISIONED_FOLDER.glob("*.pem"):
        if not file.name.startswith(("peer_", MALLORY.name)):
            shutil.copyfile(file, out / file.name)
    lines = [
        "[routes]",
        *(
            f'"{guid}" = "{peer_address}"'
            for guid in (peer, GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS)
        ),
    ]
    lines += ["[public_queues]", f'"{PEER_PUBLIC_QUEUE}" = "{peer}"']
    lines += ["[[queues]]", f"name = '{restricted}'"]
    lines += [f'owner = "{OWNER_OF_RESTRICTED_QUEUE.sid}"']
    for key, rights in (("deny", DENIED_RIGHT_BY_SID), ("allow", GRANTED_RIGHT_BY_SID)):
        listed = ", ".join(f'"{sid}" = ["{right}"]' for sid, right in rights.items())
        lines += [f"{key} = {{ {listed} }}"]
    lines += ["[security]", f'folder = "{out.resolve()}"']
    for user in USERS:
        groups = ", ".join(f'"{group}"' for group in user.groups)
        lines += ["[[security.users]]", f'name = "{user.name}"', f'sid = "{user.sid}"', f"groups = [{groups}]"]
        lines += [f'certificates = ["{user.name}.pem"]', f'key = "{user.name}.key.pem"']
    lines += ["[security.remote_keys]"]
    lines += [f'"{guid}" = "{base64.b64encode(keys).decode()}"' for guid, keys in load_known_keys(peer).items()]
    return "\n".join(lines) + "\n"
