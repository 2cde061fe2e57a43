"""Faults that break rules of MS-MQQB 3.1.7.1.5 and 3.1.7.1.5.2 for a later key, queue manager or session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import change_step, fault
from harness.faults.public_keys import change_published_blobs
from harness.faults.registry import Install, add
from harness.faults.timed_caches import change_cached_entries
from reference_qm.codec import NULL_GUID
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.security import MqdsPublicKeys
from reference_qm.surface.clock import Now

SENT_KEY_CACHE_NAME = "SendSymmetricKeyCache"
_BIT_LENGTH_OFFSET, _EXPONENT_OFFSET = 12, 16


@fault("sender-public-keys-not-looked-up-for-second-session", breaks="MQQB-3.1.7.1.5-04", blind=True)
class SenderPublicKeysNotLookedUpForSecondSession(SecurityLookup):
    """The sender looks up the public keys of a remote queue manager only once, and has no public keys of this queue
    manager on the next session.
    """

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        known = self.__dict__.setdefault("looked_up", set())
        if guid in known:
            return None
        known.add(guid)
        return super().find_public_keys(guid, now)


def _change_public_keys_that_sender_looked_up(change: Callable[[MqdsPublicKeys], MqdsPublicKeys]) -> Install:
    """Return an installer of a fault that changes the public keys which the sender has looked up."""

    def run(self: Any, original: Any, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        found: MqdsPublicKeys | None = original(guid, now)
        return None if found is None else change(found)

    return change_step(SecurityLookup.find_public_keys, run)


def _reverse_order_of_key_blobs(keys: MqdsPublicKeys) -> MqdsPublicKeys:
    blobs = [key.aBuf for key in keys.aPublicKeys]
    return MqdsPublicKeys(
        tuple(replace(key, aBuf=blob) for key, blob in zip(keys.aPublicKeys, blobs[::-1], strict=True))
    )


def _change_number_in_key_blobs(at: int, change: Callable[[int], int]) -> Callable[[MqdsPublicKeys], MqdsPublicKeys]:
    def change_keys(keys: MqdsPublicKeys) -> MqdsPublicKeys:
        changed = []
        for key in keys.aPublicKeys:
            value = change(int.from_bytes(key.aBuf[at : at + 4], "little"))
            changed.append(replace(key, aBuf=key.aBuf[:at] + value.to_bytes(4, "little") + key.aBuf[at + 4 :]))
        return MqdsPublicKeys(tuple(changed))

    return change_keys


def _find_public_keys_of_sender_itself(self: Any, original: Any, guid: UUID, now: Now) -> MqdsPublicKeys | None:
    own = self.qm.enterprise.state.LocalQueueManager.PublicEncryptionKeyList
    found: MqdsPublicKeys | None = original(guid, now)
    return MqdsPublicKeys.parse(own) if found and own else found


def _make_blob_byte_change(at: int, value: int) -> Callable[[bytes], bytes]:
    return lambda blob: blob[:at] + bytes([value]) + blob[at + 1 :]


def _restrict_change_to_long_blobs(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda blob: change(blob) if len(blob) > 100 else blob


for _name, _rule, _says, _install in (
    (
        "sender-public-keys-of-itself-used",
        "MQQB-3.1.7.1.5-05",
        "The sender encrypts with its own public keys instead of the keys of the remote queue manager.",
        change_step(SecurityLookup.find_public_keys, _find_public_keys_of_sender_itself),
    ),
    (
        "sender-public-keys-of-providers-exchanged",
        "MQQB-3.1.7.1.5-05",
        "The sender exchanges the public keys of the first and the last provider of the remote queue manager.",
        _change_public_keys_that_sender_looked_up(_reverse_order_of_key_blobs),
    ),
    (
        "sender-cached-key-with-null-guid",
        "MQQB-3.1.7.1.5-25",
        "The sender sets RemoteQMGuid of a new cached symmetric key to the null GUID.",
        change_cached_entries(SENT_KEY_CACHE_NAME, RemoteQMGuid=NULL_GUID),
    ),
    (
        "sender-bit-length-of-public-key-limited",
        "MQQB-3.1.7.1.5.2-03",
        "The sender sets bitLen of the PUBLICKEYBLOB to 1,024 for a longer published key.",
        _change_public_keys_that_sender_looked_up(
            _change_number_in_key_blobs(_BIT_LENGTH_OFFSET, lambda value: min(value, 1024))
        ),
    ),
    (
        "sender-bit-length-of-public-key-at-least-1024",
        "MQQB-3.1.7.1.5.2-03",
        "The sender sets bitLen of the PUBLICKEYBLOB to 1,024 for a shorter published key.",
        _change_public_keys_that_sender_looked_up(
            _change_number_in_key_blobs(_BIT_LENGTH_OFFSET, lambda value: max(value, 1024))
        ),
    ),
    (
        "sender-exponent-of-public-key-cut-to-16-bits",
        "MQQB-3.1.7.1.5.2-04",
        "The sender copies only the low 16 bits of pubExp of the published key into the PUBLICKEYBLOB.",
        _change_public_keys_that_sender_looked_up(
            _change_number_in_key_blobs(_EXPONENT_OFFSET, lambda value: value & 0xFFFF | 2)
        ),
    ),
    (
        "sender-exponent-of-public-key-always-3",
        "MQQB-3.1.7.1.5.2-04",
        "The sender sets pubExp of the PUBLICKEYBLOB to 3.",
        _change_public_keys_that_sender_looked_up(_change_number_in_key_blobs(_EXPONENT_OFFSET, lambda value: 3)),
    ),
    (
        "receiver-published-key-blob-of-type-simple",
        "MQQB-3.1.7.1.5.2-02",
        "The receiver publishes keys whose bType is 1 instead of 6.",
        change_published_blobs(_make_blob_byte_change(0, 1)),
    ),
    (
        "receiver-published-key-blob-of-version-3",
        "MQQB-3.1.7.1.5.2-02",
        "The receiver publishes keys whose bVersion is 3 instead of 2.",
        change_published_blobs(_make_blob_byte_change(1, 3)),
    ),
    (
        "receiver-published-long-key-without-magic",
        "MQQB-3.1.7.1.5.2-02",
        "The receiver publishes keys of 1,024 bits whose magic begins with 0.",
        change_published_blobs(_restrict_change_to_long_blobs(_make_blob_byte_change(8, 0))),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
