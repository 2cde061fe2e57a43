"""The table through which procedures call each other: the one seam at which a fault replaces one of them.

A field is one procedure of the specification, at the grain of its rules; the default is the right one. Each queue
manager has a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FinalAckBody,
    FormatError,
    MessageClass,
    OrderAckBody,
    Packet,
    PingPacket,
    SessionAckPacket,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.protocol import (
    administering,
    closing,
    dispatching,
    durability,
    enterprise,
    establishing,
    final_acks,
    identifying,
    in_sequence,
    initialization,
    order_acks,
    ping,
    receiving,
    reconnecting,
    resolving,
    routed,
    securing,
    security_caches,
    security_lookup,
    security_on_receipt,
    sending,
    session_acks,
    session_opening,
    transactional,
)
from reference_qm.core.protocol.fate_procedures import Check
from reference_qm.core.protocol.receiving import Saving
from reference_qm.core.protocol.resolving import Destination
from reference_qm.core.remote.procedures import RemoteProcedures
from reference_qm.core.transactions import coordinating, events, operations
from reference_qm.directory import DirectoryOperationResult
from reference_qm.directory.objects import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import (
    Acceptance,
    IncomingTransactionalTransferInfo,
    Message,
    MessageIDHistoryEntry,
    MessagePosition,
    OutgoingMessagePosition,
    OutgoingQueue,
    Queue,
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import ConnectionStatus
from reference_qm.model.timers import TimerName
from reference_qm.model.transactions import Transaction, TransactionalOperation
from reference_qm.security import MqdsPublicKeys, SecurityDescriptor, Sid, SignatureType, UserSignCerts
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, TransportAccepted

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
OnSession = Callable[[QM, Session, Now], None]
Change = Callable[[QM, Session], None]
OnEstablish = Callable[[QM, Session, EstablishConnectionPacket, Now], None]
OnParameters = Callable[[QM, Session, ConnectionParametersPacket, Now], None]
OnHeader = Callable[[QM, Session, SessionHeader], None]
OnFormatError = Callable[[QM, Session, FormatError, Now], None]
OnPosition = Callable[[QM, Session, OutgoingMessagePosition], None]
OnTransaction = Callable[[QM, Transaction, Now], None]
OnOperation = Callable[[QM, TransactionalOperation, Now], None]
OnMessage = Callable[[QM, Session, UserMessagePacket, Now], None]


@dataclass(slots=True)
class Procedures(RemoteProcedures):
    """One field for each procedure. The first argument is the queue manager, the last the time where it matters."""

    # 3.1.2, 3.1.3 Timers, initialization
    initialize_globally: Callable[[QM, Now], None] = initialization.initialize_globally
    initialize_session: OnSession = initialization.initialize_session
    initialize_counts: Change = initialization.initialize_counts
    initialize_timers: OnSession = initialization.initialize_timers
    initialize_transfer_sequence: OnSession = initialization.initialize_transfer_sequence
    initialize_messages: Change = initialization.initialize_messages
    initialize_parameters: OnSession = initialization.initialize_parameters
    start_timer: Callable[[QM, Session, TimerName, int, Now], None] = initialization.start_timer
    stop_timer: Callable[[QM, Session, TimerName], None] = initialization.stop_timer
    start_history_timer: Callable[[QM, Now], None] = initialization.start_history_timer
    on_history_timer: Callable[[QM, Now], None] = initialization.on_history_timer

    # 3.1.5.1 Receiving any packet
    receive_bytes: Callable[[QM, Session, bytes, Now], None] = identifying.receive_bytes
    receive_packet: Callable[[QM, Session, bytes, Now], None] = identifying.receive_packet
    note_received: Change = identifying.note_received
    identify_packet: Callable[[QM, bytes], Packet] = identifying.identify_packet
    check_form: Callable[[QM, Packet], None] = identifying.check_form
    verify_signature: OnFormatError = identifying.verify_signature
    refuse_malformed: OnFormatError = identifying.refuse_malformed
    refuse_out_of_state: Callable[[QM, Session, Packet, Now], None] = identifying.refuse_out_of_state

    # 3.1.5.2 Establish a protocol session
    establish_session: OnSession = establishing.establish_session
    resolve_host_address: OnSession = resolving.resolve_host_address
    get_destination_info: Callable[[QM, str], Destination | None] = resolving.get_destination_info
    get_next_hops: Callable[[QM, UUID], tuple[DirectoryQueueManager, ...]] = resolving.get_next_hops
    take_addresses: Callable[[QM, Session, str, tuple[str, ...], Now], None] = resolving.take_addresses
    use_addresses: OnSession = resolving.use_addresses
    select_next_hop: Change = resolving.select_next_hop
    connect_transport: Change = establishing.connect_transport
    send_establish_request: OnSession = establishing.send_establish_request
    build_establish_request: Callable[[QM, Session, Now], EstablishConnectionPacket] = (
        establishing.build_establish_request
    )
    add_connection_history: Callable[[QM, Session, ConnectionStatus, Now], None] = establishing.add_connection_history
    fail_to_establish: Callable[[QM, Session, ConnectionStatus, str, Now], None] = establishing.fail_to_establish
    need_validation: Change = resolving.need_validation
    send: Callable[[QM, Session, bytes], None] = establishing.send

    # MS-MQDMPR 3.1.3, 3.1.6, 3.1.7.1.25, MS-MQBR 3.1.3, 3.1.5, 3.1.6 Directory and routing
    initialize_directory: Callable[[QM, Now], None] = enterprise.initialize_directory
    synchronize_directory: Callable[[QM, Now], DirectoryOperationResult] = enterprise.synchronize_directory
    publish_public_keys: Callable[[QM], None] = enterprise.publish_public_keys
    initialize_routing_table: Callable[[QM], None] = enterprise.initialize_routing_table
    get_next_hop_identifiers: Callable[[QM, UUID], tuple[UUID, ...]] = enterprise.get_next_hop_identifiers
    watch_directory: Callable[[QM, Now], None] = enterprise.watch_directory
    on_directory_online_timer: Callable[[QM, Now], None] = enterprise.on_directory_online_timer
    on_directory_sites_update_timer: Callable[[QM, Now], None] = enterprise.on_directory_sites_update_timer
    on_directory_site_gates_update_timer: Callable[[QM, Now], None] = enterprise.on_directory_site_gates_update_timer
    on_queue_manager_query_timer: Callable[[QM, Now], None] = enterprise.on_queue_manager_query_timer

    # 3.1.7.13, 3.1.7.14, MS-MQDMPR 3.1.4.12 to 3.1.4.15 Administration of transfer
    pause_queue: Callable[[QM, OutgoingQueue, Now], None] = administering.pause_queue
    build_pause_ack: Callable[[QM, Session], SessionAckPacket] = administering.build_pause_ack
    resume_queue: Callable[[QM, OutgoingQueue, Now], None] = administering.resume_queue
    take_offline: Callable[[QM, Now], None] = administering.take_offline
    bring_online: Callable[[QM, Now], None] = administering.bring_online
    may_connect: Callable[[QM], bool] = administering.may_connect
    establish_waiting: Callable[[QM, Now], None] = administering.establish_waiting

    # 3.1.5.3, 3.1.5.4, 3.1.5.10 The packets that set a session up
    accept_transport: Callable[[QM, TransportAccepted, Now], None] = session_opening.accept_transport
    receive_establish_request: OnEstablish = session_opening.receive_establish_request
    is_session_acceptable: Callable[[QM], bool] = session_opening.is_session_acceptable
    is_establish_request_valid: Callable[[QM, EstablishConnectionPacket], bool] = (
        session_opening.is_establish_request_valid
    )
    build_establish_response: Callable[[QM, Session, EstablishConnectionPacket], EstablishConnectionPacket] = (
        session_opening.build_establish_response
    )
    receive_establish_response: OnEstablish = session_opening.receive_establish_response
    is_establish_response_valid: Callable[[QM, Session, EstablishConnectionPacket], bool] = (
        session_opening.is_establish_response_valid
    )
    set_recoverable_ack_timeout: OnEstablish = session_opening.set_recoverable_ack_timeout
    build_parameters_request: Callable[[QM, Session], ConnectionParametersPacket] = (
        session_opening.build_parameters_request
    )
    receive_parameters_request: OnParameters = session_opening.receive_parameters_request
    build_parameters_response: Callable[[QM, Session, ConnectionParametersPacket], ConnectionParametersPacket] = (
        session_opening.build_parameters_response
    )
    receive_parameters_response: OnParameters = session_opening.receive_parameters_response

    # 3.1.5.5, 3.1.6.3, 3.1.6.4 Session acknowledgments
    receive_session_ack: Callable[[QM, Session, SessionAckPacket, Now], None] = session_acks.receive_session_ack
    process_session_header: Callable[[QM, Session, SessionHeader, Now], None] = session_acks.process_session_header
    mark_acknowledged: OnHeader = session_acks.mark_acknowledged
    delete_acknowledged_express: OnHeader = session_acks.delete_acknowledged_express
    delete_acknowledged_recoverable: OnHeader = session_acks.delete_acknowledged_recoverable
    delete_position: Callable[[QM, Session, OutgoingMessagePosition], None] = session_acks.delete_position
    validate_message_counts: Callable[[QM, Session, SessionHeader, Now], None] = session_acks.validate_message_counts
    start_ack_wait_timer: OnSession = session_acks.start_ack_wait_timer
    on_session_ack_wait_timer: OnSession = session_acks.on_session_ack_wait_timer
    on_session_ack_send_timer: OnSession = session_acks.on_session_ack_send_timer
    send_session_ack: OnSession = session_acks.send_session_ack
    build_session_ack: Callable[[QM, Session], SessionAckPacket] = session_acks.build_session_ack
    build_session_header: Callable[[QM, Session], SessionHeader] = session_acks.build_session_header
    note_acknowledged: OnSession = session_acks.note_acknowledged
    flag_recoverable: OnSession = session_acks.flag_recoverable
    set_flag: OnSession = session_acks.set_flag
    acknowledge_full_window: OnSession = session_acks.acknowledge_full_window

    # 3.1.1.5, 3.1.6.5 Transactional messages on their way
    start_transactional_ack_wait_timer: OnSession = transactional.start_transactional_ack_wait_timer
    on_transactional_ack_wait_timer: OnSession = transactional.on_transactional_ack_wait_timer
    lengthen_resend_interval: Change = transactional.lengthen_resend_interval
    reset_resend_interval: Change = transactional.reset_resend_interval
    retain_transactional: Callable[[QM, Session, OutgoingMessagePosition], None] = transactional.retain_transactional
    delete_ordered: Callable[[QM, Session, OutgoingMessagePosition], None] = transactional.delete_ordered
    leave_sequence: Callable[[QM, Session, OutgoingMessagePosition], None] = transactional.leave_sequence
    begin_sequence: Change = transactional.begin_sequence

    # 3.1.5.6, 3.1.5.7, 3.1.6.9, 3.1.7.2.2, 3.1.7.17 Order and final acknowledgments
    receive_order_ack: OnMessage = order_acks.receive_order_ack
    note_order_ack: Callable[[QM, Session, OrderAckBody, Now], None] = order_acks.note_order_ack
    delete_order_acknowledged: Callable[[QM, Session, OrderAckBody], None] = order_acks.delete_order_acknowledged
    note_transfer: Change = order_acks.note_transfer
    schedule_order_ack: OnSession = order_acks.schedule_order_ack
    on_order_ack_send_timer: OnSession = order_acks.on_order_ack_send_timer
    build_order_ack: Callable[[QM, IncomingTransactionalTransferInfo], OrderAckBody] = order_acks.build_order_ack
    name_order_queue: Callable[[QM, Session, UUID], str] = order_acks.name_order_queue
    send_transactional_ack: Callable[[QM, str, MessageClass, OrderAckBody | FinalAckBody, Now], None] = (
        order_acks.send_transactional_ack
    )
    receive_final_ack: OnMessage = final_acks.receive_final_ack
    journal_final: Callable[[QM, OutgoingMessagePosition, int], None] = final_acks.journal_final
    position_deleted: Callable[[QM, MessagePosition, MessageClass], None] = final_acks.position_deleted
    acknowledge_removed: Callable[[QM, Now], None] = final_acks.acknowledge_removed
    acknowledge_final: Callable[[QM, MessagePosition, MessageClass, Now], None] = final_acks.acknowledge_final
    refuse_transactional: Callable[[QM, Session, UserMessagePacket, MessageClass, Now], None] = (
        final_acks.refuse_transactional
    )
    keep_final_acks: OnSession = final_acks.keep_final_acks
    requeue: Callable[[QM, OutgoingMessagePosition, Now], None] = final_acks.requeue

    # 3.1.5.8 Receiving a UserMessage Packet
    receive_user_message: OnMessage = receiving.receive_user_message
    count_received: Callable[[QM, Session, UserMessagePacket], None] = receiving.count_received
    await_consequences: Callable[[QM, Session, RecoverableReceipt, Now], None] = receiving.await_consequences
    note_activity: OnMessage = receiving.note_activity
    take_message: Callable[[QM, Session, UserMessagePacket, RecoverableReceipt, Now], None] = receiving.take_message
    find_duplicate: Callable[[QM, UserMessagePacket], MessageIDHistoryEntry | None] = receiving.find_duplicate
    disregard_duplicate: Callable[[QM, Session, MessageIDHistoryEntry, RecoverableReceipt, Now], None] = (
        receiving.disregard_duplicate
    )
    remember_message: Callable[[QM, UserMessagePacket, Now], MessageIDHistoryEntry] = receiving.remember_message
    is_addressed_here: Callable[[QM, UserMessagePacket], bool] = receiving.is_addressed_here
    find_destination: Callable[[QM, UserMessagePacket], Queue | None] = receiving.find_destination
    message_arrived: Callable[[QM, MessagePosition, Now], None] = receiving.message_arrived
    take_transactional: Callable[[QM, Session, UserMessagePacket, RecoverableReceipt, Now], None] = (
        in_sequence.take_transactional
    )
    is_in_sequence: Callable[[QM, Session, UserMessagePacket], bool] = in_sequence.is_in_sequence
    reject_out_of_sequence: Callable[[QM, Session, IncomingTransactionalTransferInfo | None, Now], None] = (
        in_sequence.reject_out_of_sequence
    )
    accept_in_sequence: Callable[[QM, Session, IncomingTransactionalTransferInfo, UserMessagePacket, Now], None] = (
        in_sequence.accept_in_sequence
    )
    confirm_saved: Callable[[QM, Acceptance, list[Session], Now], None] = in_sequence.confirm_saved
    withdraw_unsaved: Callable[[QM, IncomingTransactionalTransferInfo], None] = in_sequence.withdraw_unsaved
    save_message: Callable[[QM, Saving, UserMessagePacket], None] = receiving.save_message
    on_persisted: Callable[[QM, Saving, Now], None] = receiving.on_persisted
    on_persist_failed: Callable[[QM, Saving, str, Now], None] = receiving.on_persist_failed

    # 3.1.5.8.3, 3.1.6.10 to 3.1.6.13 Security of received messages
    check_security: Check = security_on_receipt.check_security
    decrypt_body: Callable[[QM, UserMessagePacket, Now], UserMessagePacket] = security_on_receipt.decrypt_body
    authenticate_packet: Callable[[QM, UserMessagePacket], UserMessagePacket] = security_on_receipt.authenticate_packet
    verify_sender: Callable[[QM, UserMessagePacket, Now], None] = security_on_receipt.verify_sender
    authorize_sender: Callable[[QM, UserMessagePacket, Queue], None] = security_on_receipt.authorize
    check_queue_demands: Check = security_on_receipt.check_queue_demands
    find_user_certificates: Callable[[QM, bytes], UserSignCerts | None] = security_lookup.find_user_certificates
    find_groups: Callable[[QM, Sid], Set[Sid] | None] = security_lookup.find_groups
    find_queue_security: Callable[[QM, Queue], SecurityDescriptor] = security_lookup.find_queue_security
    start_cleanup_timers: Callable[[QM, Now], None] = security_caches.start_cleanup_timers
    on_cache_cleanup_timer: Callable[[QM, TimerName, Now], None] = security_caches.on_cache_cleanup_timer

    # MS-MQDMPR 3.1.4.3 to 3.1.4.5, 3.1.7.1.8 to 3.1.7.1.12, 3.1.7.1.16 Transactions
    create_transaction: Callable[[QM, UUID, bool], Transaction] = events.create_transaction
    transaction_prepare: Callable[[QM, Transaction, bool], None] = events.transaction_prepare
    mark_boundaries: Callable[[QM, Transaction], None] = events.mark_boundaries
    carry_out_outcomes: Callable[[QM, Now], None] = events.carry_out_outcomes
    transaction_commit: OnTransaction = events.transaction_commit
    commit_enqueue: OnOperation = events.commit_enqueue
    commit_dequeue: OnOperation = events.commit_dequeue
    commit_move: OnOperation = events.commit_move
    transaction_abort: OnTransaction = events.transaction_abort
    reenlistment_timeout: Callable[[QM, Now], None] = coordinating.reenlistment_timeout
    abort_enqueue: OnOperation = events.abort_enqueue
    abort_dequeue: OnOperation = events.abort_dequeue
    abort_unprepared: Callable[[QM], None] = events.abort_unprepared
    enqueue_in_transaction: Callable[[QM, Transaction, Queue, Message], MessagePosition] = (
        operations.enqueue_in_transaction
    )
    dequeue_in_transaction: Callable[[QM, Transaction, MessagePosition], None] = operations.dequeue_in_transaction
    move_in_transaction: Callable[[QM, Transaction, MessagePosition, Queue], None] = operations.move_in_transaction

    # 3.1.5.8.2, 3.1.5.8.5 Messages for other queue managers
    route_message: Callable[[QM, Session, UserMessagePacket, RecoverableReceipt, Now], None] = routed.route_message
    is_routable: Callable[[QM, UserMessagePacket], bool] = routed.is_routable
    count_hop: Callable[[QM, UserMessagePacket], UserMessagePacket | None] = routed.count_hop
    send_on: Callable[[QM, MessagePosition, UserMessagePacket, Now], None] = routed.send_on

    # 3.1.5.9, 3.1.6.1, 3.1.6.2, 3.1.6.6, 3.1.7.3 Closing, connecting again
    close_session: Callable[[QM, Session, str, Now], None] = closing.close_session
    close_transport: Callable[[QM, Session, str], None] = closing.close_transport
    await_reconnect: OnSession = closing.await_reconnect
    session_ended: Callable[[QM, Session, str], None] = closing.session_ended
    on_transport_lost: Callable[[QM, Session, str, Now], None] = closing.on_transport_lost
    on_session_cleanup_timer: OnSession = closing.on_session_cleanup_timer
    on_session_initialization_timer: OnSession = closing.on_session_initialization_timer
    on_session_retry_connect_timer: OnSession = reconnecting.on_session_retry_connect_timer

    # 3.1.7.1, 3.1.7.11, 3.1.7.12 Sending
    take_over: Callable[[QM, OutgoingQueue, MessagePosition, Now], durability.Change] = sending.take_over
    message_position_available: Callable[[QM, OutgoingQueue, MessagePosition, Now], None] = (
        sending.message_position_available
    )
    put_outgoing: Callable[[QM, Session, OutgoingMessagePosition, Now], None] = sending.put_outgoing
    construct_user_message: Callable[[QM, MessagePosition], UserMessagePacket] = sending.construct_user_message
    dispatch_messages: OnSession = sending.dispatch_messages
    add_to_dispatch_collection: OnPosition = dispatching.add_to_dispatch_collection
    remove_from_dispatch_collection: OnPosition = dispatching.remove_from_dispatch_collection
    remove_queue_from_dispatch_collection: Callable[[QM, OutgoingQueue], None] = (
        dispatching.remove_queue_from_dispatch_collection
    )
    may_send: Callable[[QM, Session], bool] = sending.may_send
    is_window_open: Callable[[QM, Session], bool] = sending.is_window_open
    send_user_message: Callable[[QM, Session, OutgoingMessagePosition, Now], bool] = sending.send_user_message
    address_message: Callable[[QM, Session, OutgoingMessagePosition], None] = resolving.address_message
    assign_identifier: Callable[[QM], int] = sending.assign_identifier
    has_expired: Callable[[QM, UserMessagePacket, Now], bool] = sending.has_expired
    delete_expired: Callable[[QM, Session, OutgoingMessagePosition, Now], None] = sending.delete_expired
    update_user_message: Callable[[QM, Session, OutgoingMessagePosition, Now], UserMessagePacket] = (
        sending.update_user_message
    )
    assign_transaction: Callable[[QM], int] = transactional.assign_transaction
    number_in_sequence: Callable[[QM, Session, Message], Message] = transactional.number_in_sequence
    update_transaction_header: Callable[[QM, Session, OutgoingMessagePosition, Now], UserMessagePacket] = (
        transactional.update_transaction_header
    )
    is_acknowledgment_due: Callable[[QM, Session, Now], bool] = sending.is_acknowledgment_due
    transmit: Callable[[QM, Session, OutgoingMessagePosition, UserMessagePacket], None] = sending.transmit

    # 3.1.7.1.4, 3.1.7.1.5 Signing and encrypting
    secure_user_message: Callable[[QM, Session, OutgoingMessagePosition, Now], bool] = securing.secure_user_message
    sign_packet: Callable[[QM, Message, UserMessagePacket], UserMessagePacket] = securing.sign_packet
    signed_properties: Callable[[QM, UserMessagePacket, SignatureType], bytes] = securing.signed_properties
    find_signing_key: Callable[[QM, bytes], RSAPrivateKey | None] = securing.find_signing_key
    encrypt_body: Callable[[QM, Session, Message, UserMessagePacket, Now], UserMessagePacket] = securing.encrypt_body
    find_public_keys: Callable[[QM, UUID], MqdsPublicKeys | None] = security_lookup.find_public_keys
    handle_encryption_error: Callable[[QM, Session, OutgoingMessagePosition, Now], None] = (
        securing.handle_encryption_error
    )

    # 3.1.5.2.2, 3.1.6.8, 3.1.7.6 to 3.1.7.9 Ping
    ping_before_session: OnSession = ping.ping_before_session
    send_ping_request: OnSession = ping.send_ping_request
    build_ping_request: Callable[[QM], PingPacket] = ping.build_ping_request
    receive_ping_request: Callable[[QM, Endpoint, bytes], None] = ping.receive_ping_request
    build_ping_response: Callable[[QM, PingPacket], PingPacket] = ping.build_ping_response
    receive_ping_response: Callable[[QM, bytes, Now], None] = ping.receive_ping_response
    ping_response_processed: Callable[[QM, Session, PingPacket, Now], None] = ping.ping_response_processed
    on_ping_response_timer: OnSession = ping.on_ping_response_timer
