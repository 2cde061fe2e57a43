from __future__ import annotations

from collections.abc import Set
from typing import TypeVar
from uuid import UUID

from reference_qm.codec import FormatError
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import Acl, MqdsPublicKeys, SecurityDescriptor, Sid, UserSignCerts
from reference_qm.surface.clock import Now

AttributeStructure = TypeVar("AttributeStructure", MqdsPublicKeys, UserSignCerts)


class SecurityLookup(QueueManagerPart):
    """Looks up keys, certificates and groups in the directory and the local security authority.

    Spec: MS-MQQB 3.1.5.8.3, 3.1.7.1.5. In workgroup mode, every read of the directory fails, and the configuration
    is used instead. The configuration is always used instead of the local security authority. The content of the
    directory is not trusted: a malformed attribute counts as missing.
    """

    __slots__ = ()

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        """Return the PublicEncryptionKeyList of a queue manager, or None if the list is unknown.

        Spec: MS-MQQB 3.1.7.1.5. The answer from the directory is cached for a limited time (MS-MQSO 6.4.3.2).
        """
        if not self.qm.enterprise.state.DirectoryIntegrated:
            return self.qm.config.security.remote_keys.get(guid)
        cache = self.qm.enterprise.public_keys
        if guid not in cache:
            machine = self.qm.enterprise.find_queue_manager("Identifier", guid)
            if machine is None:
                return None
            cache[guid] = machine.PublicEncryptionKeyList
            self.start_public_key_cache_timer(guid, now)
        return _parse_attribute_or_none(MqdsPublicKeys, cache[guid])

    def start_public_key_cache_timer(self, guid: UUID, now: Now) -> None:
        """Start the timer that ends the lifetime of a new entry in the cache of public keys. Spec: MS-MQSO 6.4.3.2."""
        duration_ms = self.qm.settings.public_key_cache_ms // self.qm.settings.scale
        self.qm.timers.start(TimerKey(TimerName.PUBLIC_KEY_CACHE_VALIDITY, guid.int), now.monotonic_ms, duration_ms)

    def on_public_key_cache_timer(self, owner: int) -> None:
        """Remove an expired entry from the cache of public keys. Spec: MS-MQSO 6.4.3.2."""
        self.qm.enterprise.public_keys.pop(UUID(int=owner), None)

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        """Return User.Certificates of the user with the given SID (bytes), or None if the user is unknown. Spec:
        MS-MQQB 3.1.5.8.3.
        """
        if self.qm.enterprise.state.DirectoryIntegrated:
            user = self.qm.enterprise.find_user(security_id)
            return None if user is None else _parse_attribute_or_none(UserSignCerts, user.Certificates)
        accounts = self.qm.config.security.accounts
        return next((one.Certificates for one in accounts if one.SecurityIdentifier.build() == security_id), None)

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        """Return the groups in the PAC of an account, or None if the account is unknown. Spec: MS-MQQB 3.1.5.8.3."""
        return next((one.groups for one in self.qm.config.security.accounts if one.SecurityIdentifier == sid), None)

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        """Return the security descriptor of a local queue. The descriptor of a public queue is read from the
        directory.

        Spec: MS-MQQB 3.1.5.8.3. While the directory is unavailable, the local copy is used. A descriptor that
        cannot be parsed grants no rights. A journal or subqueue has the descriptor of its queue, because the rights
        to read a journal are rights of the queue (MS-MQMQ 2.2.24).
        """
        queue = queue.parent or queue
        if queue.QueueType is not QueueType.PUBLIC or queue.Identifier is None:
            return queue.Security
        found = self.qm.enterprise.find_queue(queue.Identifier)
        if found is None or found.Security is None:
            return queue.Security
        try:
            return SecurityDescriptor.parse(found.Security)
        except FormatError:
            return SecurityDescriptor(Dacl=Acl())


def _parse_attribute_or_none(kind: type[AttributeStructure], value: bytes) -> AttributeStructure | None:
    try:
        return kind.parse(value) if value else None
    except FormatError:
        return None
