"""The parts of a queue manager, made once: README.md says what each is for."""

from __future__ import annotations

from reference_qm.core.inputs import Inputs
from reference_qm.core.part import QM
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.administering import Administering
from reference_qm.core.protocol.admission import Admission
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.commanding import Commands
from reference_qm.core.protocol.configuring import Configuring
from reference_qm.core.protocol.destinations import Destinations
from reference_qm.core.protocol.dispatching import DispatchCollection
from reference_qm.core.protocol.durability import Durability
from reference_qm.core.protocol.enterprise import DirectoryClient
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.expiring import Expiring
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.inspection import Inspection
from reference_qm.core.protocol.journaling import Journaling
from reference_qm.core.protocol.membership import Membership
from reference_qm.core.protocol.order_acks import OrderAcks
from reference_qm.core.protocol.own_messages import OwnMessages
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.publishing import Publishing
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.resolving import Resolving
from reference_qm.core.protocol.restoring import Restoring
from reference_qm.core.protocol.routing import Routing
from reference_qm.core.protocol.securing import Securing
from reference_qm.core.protocol.security_caches import CacheTimers
from reference_qm.core.protocol.security_lookup import SecurityLookup
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.protocol.tracing import Tracing
from reference_qm.core.protocol.transactional_sending import TransactionalSending
from reference_qm.core.protocol.transfer_commands import TransferCommands
from reference_qm.core.queueing.commanding import QueueCommands
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.enqueueing import Enqueueing
from reference_qm.core.queueing.names import QueueNames
from reference_qm.core.queueing.opening import QueueOpening
from reference_qm.core.queueing.paths import QueuePaths
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.surviving import SurvivingQueues
from reference_qm.core.queueing.two_phase import TwoPhaseReading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.ending import RemoteEnding
from reference_qm.core.remote.opening import RemoteOpening
from reference_qm.core.remote.properties import ObjectProperties
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.queue_formats import QueueFormats
from reference_qm.core.remote.reading import RemoteReads
from reference_qm.core.remote.serving import RpcServing
from reference_qm.core.remote.starting import RemoteStarting
from reference_qm.core.remote_client.binding import ServerBindings
from reference_qm.core.remote_client.cancelling import ClientCancelling
from reference_qm.core.remote_client.commanding import ClientCommands
from reference_qm.core.remote_client.naming import ServerNames
from reference_qm.core.remote_client.opening import ClientOpening
from reference_qm.core.remote_client.reading import ClientReading
from reference_qm.core.remote_client.running import ClientTasks
from reference_qm.core.transactions.coordinating import Coordinating
from reference_qm.core.transactions.events import TransactionEvents
from reference_qm.core.transactions.handling import TransactionCommands
from reference_qm.core.transactions.operations import TransactionOperations
from reference_qm.core.transactions.records import TransactionRecords


class Parts:
    """The objects whose methods are the steps of the specifications; a fault puts another in the place of one.

    The annotations are for mypy, which reads the tables of methods in other modules before it has inferred these.
    """

    def __init__(self, qm: QM) -> None:
        # What the queue manager is given. Spec: MS-MQQB 3.1.4.
        self.inputs: Inputs = Inputs(qm)
        self.commands: Commands = Commands(qm)
        self.configuring: Configuring = Configuring(qm)
        self.transfer_commands: TransferCommands = TransferCommands(qm)
        self.transaction_commands: TransactionCommands = TransactionCommands(qm)
        self.queue_commands: QueueCommands = QueueCommands(qm)
        self.client_commands: ClientCommands = ClientCommands(qm)
        self.inspection: Inspection = Inspection(qm)

        # What it begins with and what survives. Spec: MS-MQQB 3.1.1.3.2, 3.1.3, MS-MQDMPR 3.1.3.
        self.initialization: Initialization = Initialization(qm)
        self.durability: Durability = Durability(qm)
        self.restoring: Restoring = Restoring(qm)
        self.surviving_queues: SurvivingQueues = SurvivingQueues(qm)
        self.directory: DirectoryClient = DirectoryClient(qm)
        self.publishing: Publishing = Publishing(qm)
        self.membership: Membership = Membership(qm)

        # Sessions. Spec: MS-MQQB 3.1.2, 3.1.5.1 to 3.1.5.4, 3.1.5.9, 3.1.6, 3.1.7.6.
        self.session_timers: SessionTimers = SessionTimers(qm)
        self.identifying: Identifying = Identifying(qm)
        self.establishing: Establishing = Establishing(qm)
        self.resolving: Resolving = Resolving(qm)
        self.session_opening: SessionOpening = SessionOpening(qm)
        self.ping: Ping = Ping(qm)
        self.closing: Closing = Closing(qm)
        self.administering: Administering = Administering(qm)

        # Acknowledgments. Spec: MS-MQQB 3.1.5.5 to 3.1.5.7, 3.1.7.15 to 3.1.7.17.
        self.session_acks: SessionAcks = SessionAcks(qm)
        self.order_acks: OrderAcks = OrderAcks(qm)
        self.final_acks: FinalAcks = FinalAcks(qm)
        self.admin_acks: AdminAcks = AdminAcks(qm)
        self.own_messages: OwnMessages = OwnMessages(qm)

        # Receiving. Spec: MS-MQQB 3.1.5.8.
        self.receiving: Receiving = Receiving(qm)
        self.admission: Admission = Admission(qm)
        self.in_sequence: InSequence = InSequence(qm)
        self.routing: Routing = Routing(qm)

        # Sending. Spec: MS-MQQB 3.1.7.1, MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29.
        self.destinations: Destinations = Destinations(qm)
        self.sending: Sending = Sending(qm)
        self.dispatch_collection: DispatchCollection = DispatchCollection(qm)
        self.transactional_sending: TransactionalSending = TransactionalSending(qm)

        # Security. Spec: MS-MQQB 3.1.5.8.3, 3.1.6.10 to 3.1.6.13, 3.1.7.1.4, 3.1.7.1.5.
        self.security_on_receipt: SecurityOnReceipt = SecurityOnReceipt(qm)
        self.security_lookup: SecurityLookup = SecurityLookup(qm)
        self.securing: Securing = Securing(qm)
        self.cache_timers: CacheTimers = CacheTimers(qm)

        # What becomes of a message. Spec: MS-MQQB 3.1.5.8.9, 3.1.7.1.2, MS-MQDMPR 3.1.1.12, 3.1.2.4.
        self.expiring: Expiring = Expiring(qm)
        self.journaling: Journaling = Journaling(qm)
        self.tracing: Tracing = Tracing(qm)

        # Queues. Spec: MS-MQDMPR 3.1.7, 3.2.
        self.queues: Queues = Queues(qm)
        self.queue_names: QueueNames = QueueNames(qm)
        self.queue_paths: QueuePaths = QueuePaths(qm)
        self.queue_opening: QueueOpening = QueueOpening(qm)
        self.cursors: Cursors = Cursors(qm)
        self.enqueueing: Enqueueing = Enqueueing(qm)
        self.positions: Positions = Positions(qm)
        self.quotas: Quotas = Quotas(qm)
        self.reading: Reading = Reading(qm)
        self.seeking: Seeking = Seeking(qm)
        self.two_phase_reading: TwoPhaseReading = TwoPhaseReading(qm)
        self.waiting: Waiting = Waiting(qm)

        # Transactions. Spec: MS-MQDMPR 3.1.4.3 to 3.1.4.10, 3.1.7.1.8.
        self.coordinating: Coordinating = Coordinating(qm)
        self.transaction_events: TransactionEvents = TransactionEvents(qm)
        self.transaction_operations: TransactionOperations = TransactionOperations(qm)
        self.transaction_records: TransactionRecords = TransactionRecords(qm)

        # Remote reading, the server's side. Spec: MS-MQQP 3.1, MS-MQMP 3.1.4.
        self.rpc_serving: RpcServing = RpcServing(qm)
        self.remote_opening: RemoteOpening = RemoteOpening(qm)
        self.qmcomm: Qmcomm = Qmcomm(qm)
        self.remote_starting: RemoteStarting = RemoteStarting(qm)
        self.remote_reads: RemoteReads = RemoteReads(qm)
        self.remote_ending: RemoteEnding = RemoteEnding(qm)
        self.object_properties: ObjectProperties = ObjectProperties(qm)
        self.queue_formats: QueueFormats = QueueFormats(qm)

        # Remote reading, the client's side. Spec: MS-MQQP 3.2.
        self.client_tasks: ClientTasks = ClientTasks(qm)
        self.server_names: ServerNames = ServerNames(qm)
        self.server_bindings: ServerBindings = ServerBindings(qm)
        self.client_opening: ClientOpening = ClientOpening(qm)
        self.client_reading: ClientReading = ClientReading(qm)
        self.client_cancelling: ClientCancelling = ClientCancelling(qm)
