"""Lists the parts of a queue manager, layer by layer. A part is an object that carries out some of its steps. README.md
describes each part.
"""

from __future__ import annotations

from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.commands.command_answering import CommandAnswering
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.commands.transfer_commands import TransferCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.names.queue_formats import QueueFormats
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.names.queue_paths import QueuePaths
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.surviving_queues import SurvivingQueues
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.core.remote.server_names import ServerNames
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering


class QueueManagerParts:
    """The parts of a queue manager. Their methods carry out the steps of the specifications. To inject a fault, one of
    the parts is replaced by a faulty one.

    ``__init__`` lists the parts by layer, from the lowest to the highest. A part calls only parts of its own layer and
    of lower layers. If a higher layer must act, the part posts an event (``events.py``). The attributes are annotated
    for mypy, which reads the dispatch tables of other modules before it has inferred their types.
    """

    def __init__(self, qm: QM) -> None:
        # Store. Spec: MS-MQQB 3.1.1.3.2, MS-MQDMPR 3.1.1.
        self.durable_records: DurableRecords = DurableRecords(qm)
        self.directory_link: DirectoryLink = DirectoryLink(qm)

        # Names. Spec: MS-MQMQ 2.1, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.26, MS-MQQB 3.1.7.4, 3.1.7.5.
        self.message_numbering: MessageNumbering = MessageNumbering(qm)
        self.queue_names: QueueNames = QueueNames(qm)
        self.queue_paths: QueuePaths = QueuePaths(qm)
        self.queue_formats: QueueFormats = QueueFormats(qm)
        self.destination_resolving: DestinationResolving = DestinationResolving(qm)
        self.next_hops: NextHops = NextHops(qm)
        self.security_lookup: SecurityLookup = SecurityLookup(qm)
        self.cache_timers: CacheTimers = CacheTimers(qm)

        # Queueing. Spec: MS-MQDMPR 3.1.4, 3.1.7, 3.2.
        self.message_lifetimes: MessageLifetimes = MessageLifetimes(qm)
        self.queue_quotas: QueueQuotas = QueueQuotas(qm)
        self.message_search: MessageSearch = MessageSearch(qm)
        self.queue_cursors: QueueCursors = QueueCursors(qm)
        self.waiting_reads: WaitingReads = WaitingReads(qm)
        self.message_positions: MessagePositions = MessagePositions(qm)
        self.transaction_operations: TransactionOperations = TransactionOperations(qm)
        self.message_reading: MessageReading = MessageReading(qm)
        self.two_phase_reading: TwoPhaseReading = TwoPhaseReading(qm)
        self.queue_opening: QueueOpening = QueueOpening(qm)
        self.public_queue_publishing: PublicQueuePublishing = PublicQueuePublishing(qm)
        self.queue_lifecycle: QueueLifecycle = QueueLifecycle(qm)
        self.surviving_queues: SurvivingQueues = SurvivingQueues(qm)
        self.message_journaling: MessageJournaling = MessageJournaling(qm)
        self.transaction_events: TransactionEvents = TransactionEvents(qm)
        self.transaction_records: TransactionRecords = TransactionRecords(qm)

        # Sessions. Spec: MS-MQQB 3.1.2, 3.1.5.2 to 3.1.5.4, 3.1.5.9, 3.1.6, 3.1.7.6.
        self.session_timers: SessionTimers = SessionTimers(qm)
        self.dispatch_collection: DispatchCollection = DispatchCollection(qm)
        self.session_connecting: SessionConnecting = SessionConnecting(qm)
        self.session_initialization: SessionInitialization = SessionInitialization(qm)
        self.session_closing: SessionClosing = SessionClosing(qm)
        self.ping_handling: PingHandling = PingHandling(qm)
        self.session_address_resolving: SessionAddressResolving = SessionAddressResolving(qm)
        self.session_establishing: SessionEstablishing = SessionEstablishing(qm)
        self.session_opening: SessionOpening = SessionOpening(qm)

        # Transfer. Spec: MS-MQQB 3.1.5.1, 3.1.5.5 to 3.1.5.8, 3.1.7.
        self.transactional_sending: TransactionalSending = TransactionalSending(qm)
        self.session_acks: SessionAcks = SessionAcks(qm)
        self.security_on_receipt: SecurityOnReceipt = SecurityOnReceipt(qm)
        self.message_securing: MessageSecuring = MessageSecuring(qm)
        self.message_sending: MessageSending = MessageSending(qm)
        self.message_expiring: MessageExpiring = MessageExpiring(qm)
        self.order_acks: OrderAcks = OrderAcks(qm)
        self.own_message_sending: OwnMessageSending = OwnMessageSending(qm)
        self.admin_acks: AdminAcks = AdminAcks(qm)
        self.message_tracing: MessageTracing = MessageTracing(qm)
        self.message_history: MessageHistory = MessageHistory(qm)
        self.message_arrival: MessageArrival = MessageArrival(qm)
        self.final_acks: FinalAcks = FinalAcks(qm)
        self.message_admission: MessageAdmission = MessageAdmission(qm)
        self.message_routing: MessageRouting = MessageRouting(qm)
        self.transactional_receiving: TransactionalReceiving = TransactionalReceiving(qm)
        self.message_receiving: MessageReceiving = MessageReceiving(qm)
        self.identifying: Identifying = Identifying(qm)
        self.message_enqueueing: MessageEnqueueing = MessageEnqueueing(qm)
        self.transfer_administering: TransferAdministering = TransferAdministering(qm)

        # Enterprise. Spec: MS-MQQB 3.1.3, MS-MQDMPR 3.1.3, MS-MQSO 6.6.2.
        self.queue_manager_initialization: QueueManagerInitialization = QueueManagerInitialization(qm)
        self.domain_membership: DomainMembership = DomainMembership(qm)
        self.directory_client: DirectoryClient = DirectoryClient(qm)
        self.state_restoring: StateRestoring = StateRestoring(qm)

        # Remote reading. Spec: MS-MQQP 3.1, 3.2, MS-MQMP 3.1.4.
        self.remote_reads: RemoteReads = RemoteReads(qm)
        self.remote_read_starting: RemoteReadStarting = RemoteReadStarting(qm)
        self.remote_read_ending: RemoteReadEnding = RemoteReadEnding(qm)
        self.remote_queue_opening: RemoteQueueOpening = RemoteQueueOpening(qm)
        self.qmcomm_methods: QmcommMethods = QmcommMethods(qm)
        self.object_properties: ObjectProperties = ObjectProperties(qm)
        self.rpc_event_dispatching: RpcEventDispatching = RpcEventDispatching(qm)
        self.client_tasks: ClientTasks = ClientTasks(qm)
        self.server_names: ServerNames = ServerNames(qm)
        self.server_bindings: ServerBindings = ServerBindings(qm)
        self.client_message_reading: ClientMessageReading = ClientMessageReading(qm)
        self.client_read_cancelling: ClientReadCancelling = ClientReadCancelling(qm)
        self.client_queue_opening: ClientQueueOpening = ClientQueueOpening(qm)

        # Commands. Spec: MS-MQQB 3.1.4.
        self.command_answering: CommandAnswering = CommandAnswering(qm)
        self.transaction_coordinating: TransactionCoordinating = TransactionCoordinating(qm)
        self.transaction_commands: TransactionCommands = TransactionCommands(qm)
        self.queue_commands: QueueCommands = QueueCommands(qm)
        self.client_commands: ClientCommands = ClientCommands(qm)
        self.settings_changing: SettingsChanging = SettingsChanging(qm)
        self.transfer_commands: TransferCommands = TransferCommands(qm)
        self.data_model_inspection: DataModelInspection = DataModelInspection(qm)
        self.higher_layer_commands: HigherLayerCommands = HigherLayerCommands(qm)
        self.input_dispatching: InputDispatching = InputDispatching(qm)
