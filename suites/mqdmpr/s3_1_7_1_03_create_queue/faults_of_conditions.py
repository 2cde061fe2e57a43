"""Faults that break the rules MQDMPR-3.1.7.1.3-07, MQDMPR-3.1.7.1.3-D05 and MQDMPR-3.1.7.1.3.1-04 to
MQDMPR-3.1.7.1.3.1-20 only under certain conditions: for one kind of queue, or for the second queue.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_lifecycle import QueueCreationCallback, QueueLifecycle
from reference_qm.directory.objects import Computer
from reference_qm.model.adm import Queue
from reference_qm.model.position_list import MessagePositionList
from reference_qm.model.statuses import Status
from reference_qm.security import Acl, SecurityDescriptor, Sid


class _SubqueueJournalAdder(QueueLifecycle):
    """Add a journal to some subqueues; a subclass selects these subqueues."""

    def is_journal_added(self, queue: Queue, parent: Queue) -> bool:
        """Return whether a new subqueue gets a journal."""
        return False

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        if self.is_journal_added(queue, parent):
            journal = MessagePositionList(self.qm.adm.journal_storage)
            queue.JournalQueueReference = Queue(
                Pathname=f"{queue.Pathname};JOURNAL", MessagePositionList=journal, parent=queue
            )


@fault("queue-manager-second-subqueue-has-journal", breaks="MQDMPR-3.1.7.1.3-07", blind=True)
class QueueManagerSecondSubqueueHasJournal(_SubqueueJournalAdder):
    """The queue manager adds a journal to each subqueue of a queue except the first."""

    def is_journal_added(self, queue: Queue, parent: Queue) -> bool:
        return len(parent.SubqueueCollection) > 1


@fault("queue-manager-subqueue-of-transactional-queue-has-journal", breaks="MQDMPR-3.1.7.1.3-07", blind=True)
class QueueManagerSubqueueOfTransactionalQueueHasJournal(_SubqueueJournalAdder):
    """The queue manager adds a journal to the subqueues of transactional queues."""

    def is_journal_added(self, queue: Queue, parent: Queue) -> bool:
        return parent.Transactional


@fault("queue-manager-subqueue-of-journaling-queue-has-journal", breaks="MQDMPR-3.1.7.1.3-07", blind=True)
class QueueManagerSubqueueOfJournalingQueueHasJournal(_SubqueueJournalAdder):
    """The queue manager adds a journal to the subqueues of queues with Journaling."""

    def is_journal_added(self, queue: Queue, parent: Queue) -> bool:
        return parent.Journaling


@fault("queue-manager-second-public-queue-has-paths-of-first", breaks="MQDMPR-3.1.7.1.3-D05", blind=True)
class QueueManagerSecondPublicQueueHasPathsOfFirst(QueueLifecycle):
    """The queue manager gives each later public queue the FullPath and the DirectoryPath of the first one."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        def copy_paths_of_first_queue(status: Status, made: Queue | None) -> None:
            if made is not None and made.FullPath:
                self.__dict__.setdefault("paths", (made.FullPath, made.DirectoryPath))
                made.FullPath, made.DirectoryPath = self.__dict__["paths"]
            created(status, made)

        super().create(queue, utc_s, copy_paths_of_first_queue, skip_directory)


@fault("queue-manager-transactional-public-queue-keeps-own-identifier", breaks="MQDMPR-3.1.7.1.3-D05", blind=True)
class QueueManagerTransactionalPublicQueueKeepsOwnIdentifier(QueueLifecycle):
    """The queue manager gives a transactional public queue its own Identifier instead of that of the directory."""

    def create(self, queue: Queue, utc_s: int, created: QueueCreationCallback, skip_directory: bool = False) -> None:
        def set_own_identifier(status: Status, made: Queue | None) -> None:
            if made is not None and made.FullPath and made.Transactional and made.Identifier is not None:
                made.Identifier = type(made.Identifier)(int=made.Identifier.int ^ 1)
            created(status, made)

        super().create(queue, utc_s, set_own_identifier, skip_directory)


@fault("queue-manager-null-sid-added-for-unknown-sid-of-computer", breaks="MQDMPR-3.1.7.1.3.1-04", blind=True)
class QueueManagerNullSidAddedForUnknownSidOfComputer(QueueLifecycle):
    """If the directory does not return the computer's SID, the queue manager adds an entry for the null SID."""

    def find_machine_sid(self) -> Sid | None:
        return super().find_machine_sid() or Sid.parse(bytes.fromhex("010100000000000000000000"))


@fault("queue-manager-security-descriptor-has-sid-of-last-computer", breaks="MQDMPR-3.1.7.1.3.1-05", blind=True)
class QueueManagerSecurityDescriptorHasSidOfLastComputer(QueueLifecycle):
    """The queue manager takes the objectSid of the last computer in the directory."""

    def find_machine_sid(self) -> Sid | None:
        elements = self.qm.enterprise.directory.contents()[1] or ()
        found = [one.SecurityIdentifier for one in elements if isinstance(one, Computer) and one.SecurityIdentifier]
        return Sid.parse(found[-1]) if found else None


@fault("queue-manager-sid-of-computer-read-only-for-first-queue", breaks="MQDMPR-3.1.7.1.3.1-05", blind=True)
class QueueManagerSidOfComputerReadOnlyForFirstQueue(QueueLifecycle):
    """The queue manager reads the computer's SID only for the first queue that it creates after its start."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read = False

    def find_machine_sid(self) -> Sid | None:
        found, again = super().find_machine_sid(), self.read
        self.read = self.read or found is not None
        return None if again else found


class _ComputerRightsChanger(QueueLifecycle):
    """Change the rights that the default security descriptor grants the computer."""

    def change_rights_of_computer(self, mask: int) -> int:
        """Return the rights that the descriptor grants the computer."""
        return mask

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        default, machine = super().create_default_security(owner), self.find_machine_sid()
        if default.Dacl is None or machine is None:
            return default
        aces = (
            replace(ace, Mask=self.change_rights_of_computer(ace.Mask)) if ace.Sid == machine else ace
            for ace in default.Dacl.Aces
        )
        return replace(default, Dacl=Acl(tuple(aces)))


@fault("queue-manager-dacl-omits-computer-right-to-read-permissions", breaks="MQDMPR-3.1.7.1.3.1-14", blind=True)
class QueueManagerDaclOmitsComputerRightToReadPermissions(_ComputerRightsChanger):
    """The queue manager grants the computer only the right to read the properties."""

    def change_rights_of_computer(self, mask: int) -> int:
        return mask & 0x20


@fault("queue-manager-dacl-grants-computer-right-to-change-properties", breaks="MQDMPR-3.1.7.1.3.1-14", blind=True)
class QueueManagerDaclGrantsComputerRightToChangeProperties(_ComputerRightsChanger):
    """The queue manager also grants the computer the right to change the properties."""

    def change_rights_of_computer(self, mask: int) -> int:
        return mask | 0x10


@fault("queue-manager-dacl-lacks-computer-entry-if-domain-user-owns-queue", breaks="MQDMPR-3.1.7.1.3.1-14", blind=True)
class QueueManagerDaclLacksComputerEntryIfDomainUserOwnsQueue(QueueLifecycle):
    """The queue manager grants the computer no rights if the owner of the queue is a domain user."""

    def create_default_security(self, owner: Sid) -> SecurityDescriptor:
        default, machine = super().create_default_security(owner), self.find_machine_sid()
        if (
            default.Dacl is None
            or machine is None
            or self.find_owner_of_new_queue(owner) != owner
            or len(default.Dacl.Aces) < 3
        ):
            return default
        return replace(default, Dacl=Acl(tuple(ace for ace in default.Dacl.Aces if ace.Sid != machine)))


class _DescriptorWithSelfRelativeFlagCleared(SecurityDescriptor):
    """A security descriptor that is encoded with its control bit SR (self-relative) clear."""

    def build(self) -> bytes:
        data = super().build()
        return data[:3] + bytes([data[3] & 0x7F]) + data[4:]


class _SecurityDescriptorWithMisplacedDacl(SecurityDescriptor):
    """A security descriptor in which the offset of the DACL is four bytes too low."""

    def build(self) -> bytes:
        data = super().build()
        offset = int.from_bytes(data[16:20], "little")
        return data[:16] + (offset - 4 if offset else 0).to_bytes(4, "little") + data[20:]


@fault("queue-manager-supplied-descriptor-not-self-relative", breaks="MQDMPR-3.1.7.1.3.1-20", blind=True)
class QueueManagerSuppliedDescriptorNotSelfRelative(QueueLifecycle):
    """The queue manager clears SR in the security descriptor of a queue whose creator supplied a descriptor."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        return (
            made
            if supplied is None
            else _DescriptorWithSelfRelativeFlagCleared(made.Owner, made.Group, made.Dacl, made.Control, made.Sacl)
        )


@fault("queue-manager-security-descriptor-dacl-offset-too-low", breaks="MQDMPR-3.1.7.1.3.1-20", blind=True)
class QueueManagerSecurityDescriptorDaclOffsetTooLow(QueueLifecycle):
    """In the security descriptor of an owned queue, the offset of the DACL is four bytes too low."""

    def build_security_of_new_queue(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        made = super().build_security_of_new_queue(supplied, user)
        owned = self.find_owner_of_new_queue(user) == user
        return (
            _SecurityDescriptorWithMisplacedDacl(made.Owner, made.Group, made.Dacl, made.Control, made.Sacl)
            if owned
            else made
        )
