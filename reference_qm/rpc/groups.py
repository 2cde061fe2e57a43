"""Implements association groups, which own the context handles of clients. Spec: C706 9.3.3.2, 5.1.6; MS-RPCE
3.3.1.5.7.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm.rpc.events import HandleRundown
from reference_qm.surface.entropy import Entropy, generate_guid

if TYPE_CHECKING:
    from reference_qm.rpc.association import Association
    from reference_qm.rpc.calls import Call


class ContextHandle:
    """A context handle of a client.

    ``kind``: the name of the handle's type. ``state``: the dispatcher's data. Calls with the same handle are
    carried out one after the other: ``holder`` is the running call, and ``waiting`` are the calls that follow.
    """

    __slots__ = ("holder", "kind", "state", "uuid", "waiting")

    def __init__(self, kind: str, uuid: UUID, state: Any) -> None:
        self.kind = kind
        self.uuid = uuid
        self.state = state
        self.holder: Call | None = None
        self.waiting: deque[Call] = deque()


class AssociationGroup:
    """The associations of one client, which share context handles.

    ``reserved_handle_count``: the number of running calls that may open a handle. Room for these handles is reserved,
    so that every such call can be answered.
    """

    __slots__ = ("associations", "handles", "host", "identifier", "reserved_handle_count")

    def __init__(self, identifier: int, host: str) -> None:
        self.identifier = identifier
        self.host = host
        self.associations: set[Association] = set()
        self.handles: dict[UUID, ContextHandle] = {}
        self.reserved_handle_count = 0

    def find_handle(self, kind: str, uuid: UUID) -> ContextHandle | None:
        """Return an open handle of a type, or None if the group has no such handle (MS-RPCE 3.1.1.5.3.3.1.1)."""
        handle = self.handles.get(uuid)
        return handle if handle is not None and handle.kind == kind else None


class AssociationGroups:
    """All association groups of a server."""

    __slots__ = ("_by_identifier", "_entropy")

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._by_identifier: dict[int, AssociationGroup] = {}

    def __len__(self) -> int:
        return len(self._by_identifier)

    @property
    def handle_count(self) -> int:
        """The number of open context handles."""
        return sum(len(group.handles) for group in self._by_identifier.values())

    def add_association(self, association: Association, identifier: int, host: str) -> AssociationGroup | None:
        """Add an association to the group with the given identifier, or to a new group if the identifier is 0. Return
        the group, or None if the client's host has no group with this identifier.

        Spec: C706 12.6.3.1 (assoc_group_id); MS-RPCE 3.3.1.5.7: only connections from the same machine join a
        group.
        """
        if identifier:
            group = self._by_identifier.get(identifier)
            if group is None or group.host != host:
                return None
        else:
            group = AssociationGroup(self._create_group_identifier(), host)
            self._by_identifier[group.identifier] = group
        group.associations.add(association)
        return group

    def remove_association(self, association: Association, group: AssociationGroup) -> list[HandleRundown]:
        """Remove an association from its group. If it was the last association of the group, return the rundowns of the
        group's open handles.
        """
        group.associations.discard(association)
        if group.associations:
            return []
        del self._by_identifier[group.identifier]
        left = list(group.handles.values())
        group.handles.clear()
        return [HandleRundown(handle) for handle in left]

    def make_context_handle(self, kind: str, state: Any) -> ContextHandle:
        """Return a new context handle that belongs to no group yet."""
        return ContextHandle(kind, generate_guid(self._entropy), state)

    def _create_group_identifier(self) -> int:
        while True:
            identifier = int.from_bytes(self._entropy.token(4), "little")
            if identifier and identifier not in self._by_identifier:
                return identifier
