from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any
from uuid import UUID

from reference_qm.core.commands.queue_tree import describe_descriptor, describe_queue, get_queue_pathname
from reference_qm.core.commands.settings_changing import SECURITY_ELEMENT_BY_SETTING
from reference_qm.core.names.cache_timers import CACHE_NAME_BY_TIMER
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory import Enterprise
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.timers import SESSION_TIMERS, TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.security import CachedSymmetricKey, CachedUserCert
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

_RESEND_TIMEOUT_ELEMENTS = ("ResendTimeoutsShort", "ResendTimeoutsMedium", "ResendTimeoutsLong", "ResendTimeoutsFinal")
_LOCAL_QUEUE_MANAGER_ELEMENTS = (
    "ComputerName",
    "QualifiedComputerName",
    "ConnectedNetworkIdentifierList",
    "Clustered",
    "SrmpHttpSupport",
    "SrmpPgmSupport",
    "DirectoryServer",
    "DirectoryServerType",
    "SupportingServer",
    "HardenedSecurity",
    "InitializationRetryTimerDuration",
    "MachineDomainId",
    "LastDomain",
)
_SYSTEM_QUEUE_ELEMENTS = ("SystemDeadletterQueue", "SystemTransactionalDeadletterQueue", "SystemJournalQueue")
_DIRECTORY_TIMERS = (
    TimerName.DIRECTORY_SITES_UPDATE,
    TimerName.DIRECTORY_SITE_GATES_UPDATE,
    TimerName.DIRECTORY_ONLINE,
)
_CACHE_NAMES = (*CACHE_NAME_BY_TIMER.values(), "ReceiveBaseSymmetricKeyCache")
_ELEMENTS_SHOWN_SEPARATELY = ("OutgoingQueueReference", "OutgoingMessageTable", "AwaitingFinalACKTable")
_TRANSFER_INFO_ELEMENTS = (
    "FormatName",
    "SenderIdentifier",
    "SequenceIdentifier",
    "SequenceNumber",
    "LastAccessTime",
    "RejectCount",
)
_OUTGOING_POSITION_ELEMENTS = (
    "SequenceNumber",
    "RecoverableSequenceNumber",
    "TxSequenceNumber",
    "AwaitingAck",
    "ReceivedSessionAck",
    "ReceivedOrderAck",
    "Transmitted",
)

_OUTGOING_QUEUE_ELEMENTS = ("Identifier", "Label", "Multicast", "BasePriority")
"""The attributes that ``get_outgoing_queue`` omits, because a management interface does not expose them."""
_PENDING_READ_ELEMENTS = ("OpenQueueDescriptorHandle", "RequestId", "RemoteReadHandle")
_REMOTE_OPEN_QUEUE_ELEMENTS = ("OpenQueueDescriptorHandle", "RRSessionHandle")


class DataModelInspection(QueueManagerPart):
    """Returns the abstract data model as a JSON-ready tree under the specification's names."""

    __slots__ = ()

    def inspect(self, now: Now) -> dict[str, Any]:
        """Return the tree of the abstract data model. The tree includes the sessions that are open, waiting or
        recently closed.
        """
        adm = self.qm.adm
        return {
            "QueueManager": {
                "Identifier": str(adm.Identifier),
                **{name: _convert_to_json_value(getattr(adm, name)) for name in _LOCAL_QUEUE_MANAGER_ELEMENTS},
                "OperatingSystemType": self.qm.config.operating_system.value,
                **self._describe_enterprise(),
                "PublicEncryptionKeyList": self.qm.enterprise.state.LocalQueueManager.PublicEncryptionKeyList.hex(),
                "PublicSigningKeyList": self.qm.enterprise.state.LocalQueueManager.PublicSigningKeyList.hex(),
                "QueueManagerState": adm.QueueManagerState.value,
                "QueueManagerQuota": adm.QueueManagerQuota,
                "JournalQuota": adm.JournalQuota,
                "Security": None if adm.Security is None else adm.Security.hex(),
                **{name: _describe_system_queue(getattr(adm, name)) for name in _SYSTEM_QUEUE_ELEMENTS},
                "SequentialID": adm.SequentialID,
                "Throttled": adm.Throttled,
                "PingCookie": adm.PingCookie,
                "MessageIdOrdinal": adm.MessageIdOrdinal,
                **{name: getattr(adm, name) for name in _RESEND_TIMEOUT_ELEMENTS},
                "ResendTimerTable": list(adm.ResendTimerTable),
                "TransactionCollection": [_describe_transaction(one) for one in adm.TransactionCollection.values()],
                "MessageIDHistoryTable": [_convert_to_json_value(entry) for entry in adm.MessageIDHistoryTable],
                **self._describe_security(now),
                "QueueCollection": [
                    {
                        **describe_queue(queue),
                        "MessageCount": len(queue.MessagePositionList),
                        "IncomingTransactionalTransferInfoCollection": _describe_transfers(queue),
                    }
                    for queue in adm.QueueCollection.values()
                ],
            },
            "Sessions": [
                self._describe_session(session, now)
                for session in (*self.qm.sessions.values(), *self.qm.closed_sessions)
            ],
            "OutgoingQueues": [
                {
                    **_describe_outgoing_queue(queue),
                    **{name: _convert_to_json_value(getattr(queue, name)) for name in _OUTGOING_QUEUE_ELEMENTS},
                }
                for queue in adm.OutgoingQueues.values()
            ],
            "OpenQueueDescriptors": [describe_descriptor(one) for one in self.qm.descriptors.values()],
            "PendingRemoteReadEntryCollection": [
                {name: _convert_to_json_value(getattr(entry, name)) for name in _PENDING_READ_ELEMENTS}
                for entry in self.qm.remote_client.PendingRemoteReadEntryCollection
            ],
            "RemoteOpenQueueEntryCollection": [
                {name: _convert_to_json_value(getattr(entry, name)) for name in _REMOTE_OPEN_QUEUE_ELEMENTS}
                for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection
            ],
            "RemoteReadingServerState": self._describe_remote_reading(),
        }

    def get_outgoing_queue(self, request: commands.GetOutgoingQueue, token: int, now: Now) -> Result:
        """Return a list with the attributes of the outgoing queue for the given format name. The list is empty if
        there is no such queue.
        """
        wanted = request.to.lower()
        queues = self.qm.adm.OutgoingQueues.values()
        return Result(
            {
                "outgoing": [
                    _describe_outgoing_queue(one) for one in queues if one.DestinationFormatName.lower() == wanted
                ]
            }
        )

    def get_transfers(self, request: commands.GetTransfers, token: int, now: Now) -> Result:
        """Return the IncomingTransactionalTransferInfoCollection of a queue."""
        return Result({"transfers": _describe_transfers(self.qm.queue_names.find_queue(request.queue))})

    def _describe_remote_reading(self) -> dict[str, Any]:
        """Describe the queues that remote clients have opened and the reads that remote clients have started, each in
        the order of their addition.
        """
        remote = self.qm.remote
        return {
            "RemoteReadEntryCollection": [
                {
                    "OpenQueueDescriptorHandle": entry.OpenQueueDescriptorHandle,
                    "Timeout": entry.Timeout,
                    "Action": entry.Action.name,
                    "RequestId": entry.RequestId,
                }
                for entry in remote.RemoteReadEntryCollection
            ],
            "OpenQueueEntryCollection": [
                {"OpenQueueDescriptorHandle": entry.OpenQueueDescriptorHandle, "ClientId": str(entry.ClientId)}
                for entry in remote.OpenQueueEntryCollection
            ],
            "RemoteQueueOpenContextHandleTable": [
                {"OpenQueueDescriptorReference": context.OpenQueueDescriptorReference.Handle}
                for context in remote.RemoteQueueOpenContextHandleTable
            ],
        }

    def _describe_enterprise(self) -> dict[str, Any]:
        state = self.qm.enterprise.state
        return {
            "ConnectionActive": self.qm.adm.ConnectionActive,
            "DirectoryIntegrated": state.DirectoryIntegrated,
            "DirectoryOffline": state.DirectoryOffline,
            "RoutingServer": state.LocalQueueManager.RoutingServer,
            "EnterpriseReference": _describe_enterprise_element(state.EnterpriseReference),
            "SiteCollection": [
                {
                    "Identifier": str(site.Identifier),
                    "Name": site.Name,
                    "IntraSiteReplicationInterval": site.IntraSiteReplicationInterval,
                    "SiteGateCollection": [
                        {"Identifier": str(gate.Identifier), "QueueManagerQuota": gate.QueueManagerQuota}
                        for gate in site.SiteGateCollection
                    ],
                }
                for site in state.SiteCollection
            ],
            "SiteIdentifierList": [str(site) for site in state.LocalQueueManager.SiteIdentifierList],
            "RoutingTable": [_convert_to_json_value(row) for row in self.qm.enterprise.table],
            "ChangeNotifications": [
                {"iOperation": one.iOperation.value, "Pathname": getattr(one.iDirectoryObject, "Pathname", None)}
                for one in state.notifications
            ],
        }

    def _describe_security(self, now: Now) -> dict[str, Any]:
        """Describe security settings, caches, and the remaining times of the cleanup timers. Keys are not shown in
        clear text.
        """
        return {
            "SendInsecureNacks": self.qm.adm.SendInsecureNacks,
            **{name: getattr(self.qm.security_settings, name) for name in SECURITY_ELEMENT_BY_SETTING.values()},
            "SymmetricKeyLongLifetime": self.qm.security_settings.SymmetricKeyLongLifetime,
            **{
                name: [_describe_cache_entry(entry) for entry in getattr(self.qm.caches, name).entries]
                for name in _CACHE_NAMES
            },
            "timers": {
                name.value: self.qm.timers.get_remaining_ms(TimerKey(name, 0), now.monotonic_ms)
                for name in (TimerName.MESSAGE_ID_HISTORY_CLEANUP, *CACHE_NAME_BY_TIMER, *_DIRECTORY_TIMERS)
            },
        }

    def _describe_session(self, session: Session, now: Now) -> dict[str, Any]:
        tree: dict[str, Any] = {
            "transport": session.transport,
            "role": "initiator" if session.initiator else "acceptor",
        }
        for one in fields(Session):
            if one.name[0].isupper() and one.name not in _ELEMENTS_SHOWN_SEPARATELY:
                tree[one.name] = _convert_to_json_value(getattr(session, one.name))
        queue = session.OutgoingQueueReference
        tree["OutgoingQueueReference"] = None if queue is None else queue.DestinationFormatName
        tree["OutgoingMessageTable"] = [
            _describe_message_position(position) for position in session.OutgoingMessageTable
        ]
        tree["AwaitingFinalACKTable"] = [
            _describe_message_position(position) for position in session.AwaitingFinalACKTable.values()
        ]
        tree["timers"] = {
            name.value: self.qm.timers.get_remaining_ms(TimerKey(name, session.number), now.monotonic_ms)
            for name in SESSION_TIMERS
        }
        return tree


def _describe_transaction(transaction: Transaction) -> dict[str, Any]:
    return {
        "Identifier": str(transaction.Identifier),
        "SinglePhase": transaction.SinglePhase,
        "TransactionalOperationCollection": [
            {
                "OperationType": operation.OperationType.value,
                "TargetQueueReference": get_queue_pathname(operation.TargetQueueReference),
                "DequeueReason": None if operation.DequeueReason is None else operation.DequeueReason.name,
                "MessageID": operation.MessagePositionReference.MessageReference.Identifier.Ordinal,
                "State": operation.MessagePositionReference.State.value,
            }
            for operation in transaction.TransactionalOperationCollection
        ],
    }


def _describe_cache_entry(entry: CachedSymmetricKey | CachedUserCert) -> dict[str, Any]:
    return {
        one.name: _convert_to_json_value(getattr(entry, one.name))
        for one in fields(entry)
        if one.name != "SymmetricKey"
    }


def _describe_message_position(position: OutgoingMessagePosition) -> dict[str, Any]:
    return {"MessageID": position.UserMessage.UserHeader.MessageID} | {
        name: getattr(position, name) for name in _OUTGOING_POSITION_ELEMENTS
    }


def _describe_enterprise_element(enterprise: Enterprise | None) -> dict[str, Any] | None:
    name = "NonLDAPCapableQueueManagerNotification"
    return None if enterprise is None else {name: getattr(enterprise, name)}


def _describe_system_queue(queue: Queue) -> dict[str, Any]:
    return {"Pathname": queue.Pathname, "QueueType": queue.QueueType.value, "Transactional": queue.Transactional}


def _describe_transfers(queue: Queue) -> list[dict[str, Any]]:
    transfers = queue.IncomingTransactionalTransferInfoCollection.values()
    return [
        {name: _convert_to_json_value(getattr(transfer, name)) for name in _TRANSFER_INFO_ELEMENTS}
        for transfer in transfers
    ]


def _describe_outgoing_queue(queue: OutgoingQueue) -> dict[str, Any]:
    return {
        "DestinationFormatName": queue.DestinationFormatName,
        "State": queue.State.value,
        "Active": queue.Active,
        "ConnectionHistory": [_convert_to_json_value(entry) for entry in queue.ConnectionHistory],
        "NextHops": list(queue.NextHops),
        "OutgoingTransferInfo": _convert_to_json_value(queue.OutgoingTransferInfoReference),
    }


def _convert_to_json_value(value: Any) -> Any:
    """Convert elements to JSON values: a record becomes an object, a GUID becomes a string, and bytes become a
    string of hexadecimal digits.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return [_convert_to_json_value(one) for one in value]
    if is_dataclass(value):
        return {one.name: _convert_to_json_value(getattr(value, one.name)) for one in fields(value)}
    return value
