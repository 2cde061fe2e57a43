"""Faults that break rules of MS-MQQB 3.1.1.3.1 Session State for one queue, sender, role or state only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("receiver-sequence-with-ordinal-1-and-time-stamp-0-refused", breaks="MQQB-3.1.1.3.1-07", blind=True)
class ReceiverSequenceWithOrdinal1AndTimeStamp0Refused(TransactionalReceiving):
    """The receiver refuses the lowest TxSequenceID, with Ordinal 1 and TimeStamp 0, as if IncomingTxSequenceID began
    with 1.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        if header is not None and not int(session.IncomingTxSequenceID) and int(header.TxSequenceID) == 1:
            return False
        return super().is_in_sequence(session, packet)


def _list_incoming_transfers(qm: QueueManager) -> list[IncomingTransactionalTransferInfo]:
    return [
        transfer
        for queue in qm.adm.QueueCollection.values()
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values()
    ]


def _clear_ordinals_of_incoming_sequences(qm: QueueManager) -> None:
    for transfer in _list_incoming_transfers(qm):
        transfer.SequenceIdentifier = replace(transfer.SequenceIdentifier, Ordinal=0)


def _delete_incoming_transfers_of_later_senders(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for key in list(queue.IncomingTransactionalTransferInfoCollection)[1:]:
            del queue.IncomingTransactionalTransferInfoCollection[key]


def _delete_incoming_transfers_of_empty_queues(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        if not len(queue.MessagePositionList):
            queue.IncomingTransactionalTransferInfoCollection.clear()


for _name, _says, _install in (
    (
        "receiver-incoming-sequence-ordinal-lost-at-restart",
        "After a restart, the receiver knows only TimeStamp of IncomingTxSequenceID.",
        change_core_at_restart(_clear_ordinals_of_incoming_sequences),
    ),
    (
        "receiver-incoming-sequence-of-second-sender-lost-at-restart",
        "After a restart, the receiver knows for each queue only IncomingTxSequenceID of the first sender.",
        change_core_at_restart(_delete_incoming_transfers_of_later_senders),
    ),
    (
        "receiver-incoming-sequence-of-empty-queue-lost-at-restart",
        "After a restart, the receiver knows IncomingTxSequenceID only for the queues that contain messages.",
        change_core_at_restart(_delete_incoming_transfers_of_empty_queues),
    ),
):
    add(_name, "MQQB-3.1.1.3.1-08", _says, _install, blind=True)


def _change_inspected_session(change: Callable[[QM, Session, dict[str, Any]], None]) -> Install:
    """Return an installer of a fault that changes the tree of a session in an inspection."""

    class SessionTreeChanged(DataModelInspection):
        def _describe_session(self, session: Session, now: Now) -> dict[str, Any]:
            tree = super()._describe_session(session, now)
            change(self.qm, session, tree)
            return tree

    return replace_part(SessionTreeChanged)


def _show_first_queue_for_acceptor(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if not session.initiator and session.OutgoingQueueReference is None:
        tree["OutgoingQueueReference"] = next(iter(qm.adm.OutgoingQueues), None)


def _show_first_queue_for_initiator(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if session.initiator:
        first = next(iter(qm.adm.OutgoingQueues.values()))
        tree["OutgoingQueueReference"] = first.DestinationFormatName


def _hide_queue_of_closed_session(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT):
        tree["OutgoingQueueReference"] = None


def _append_port_to_shown_address_of_initiator(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if session.initiator and session.RemoteQMAddress:
        tree["RemoteQMAddress"] = f"{session.RemoteQMAddress}:{qm.config.remote_tcp_port}"


def _show_host_name_of_closed_session(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT):
        tree["RemoteQMAddress"] = "localhost"


def _add_prefix_to_shown_next_hop_addresses(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    for hop in tree["NextHopCollection"]:
        hop["Address"] = f"IP={hop['Address']}"


def _append_port_to_shown_next_hops_of_guid(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    if not session.is_destination_direct:
        for hop in tree["NextHopCollection"]:
            hop["Address"] += f":{qm.config.remote_tcp_port}"


def _show_host_name_of_later_next_hops(qm: QM, session: Session, tree: dict[str, Any]) -> None:
    for hop in tree["NextHopCollection"][1:]:
        hop["Address"] = hop["HostName"]


for _name, _rule, _says, _change in (
    (
        "acceptor-session-outgoing-queue-reference-first-queue",
        "MQQB-3.1.1.3.1-10",
        "The session of an acceptor, which has no outgoing queue, has a reference to the first outgoing queue.",
        _show_first_queue_for_acceptor,
    ),
    (
        "sender-outgoing-queue-reference-of-every-session-first-queue",
        "MQQB-3.1.1.3.1-10",
        "OutgoingQueueReference of every session that the sender initiates names the first outgoing queue.",
        _show_first_queue_for_initiator,
    ),
    (
        "sender-outgoing-queue-reference-of-closed-session-missing",
        "MQQB-3.1.1.3.1-10",
        "A session that the sender closed, or that waits for a new attempt, has no OutgoingQueueReference.",
        _hide_queue_of_closed_session,
    ),
    (
        "initiator-remote-address-with-port",
        "MQQB-3.1.1.3.1-11",
        "RemoteQMAddress of a session that the queue manager initiates ends with the port.",
        _append_port_to_shown_address_of_initiator,
    ),
    (
        "remote-address-of-closed-session-host-name",
        "MQQB-3.1.1.3.1-11",
        "RemoteQMAddress of a closed session, or of a session that waits for a new attempt, is a host name.",
        _show_host_name_of_closed_session,
    ),
    (
        "initiator-next-hop-address-with-ip-prefix",
        "MQQB-3.1.1.3.1.3-01",
        "Address of a NextHop begins with IP=.",
        _add_prefix_to_shown_next_hop_addresses,
    ),
    (
        "initiator-next-hop-of-guid-address-with-port",
        "MQQB-3.1.1.3.1.3-01",
        "Address of a NextHop ends with the port if the destination is not a direct format name.",
        _append_port_to_shown_next_hops_of_guid,
    ),
    (
        "initiator-later-next-hop-address-host-name",
        "MQQB-3.1.1.3.1.3-01",
        "Address of every NextHop of a session except the first is a host name.",
        _show_host_name_of_later_next_hops,
    ),
):
    add(_name, _rule, _says, _change_inspected_session(_change), blind=True)
