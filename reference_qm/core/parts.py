"""Lists the parts of a queue manager by layers. README.md describes each part."""

from __future__ import annotations

from reference_qm.core.commands.answering import Answering
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.configuring import Configuring
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.commands.inspection import Inspection
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transfer_commands import TransferCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.enterprise.membership import Membership
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.names.queue_formats import QueueFormats
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.names.queue_paths import QueuePaths
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QM
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.surviving_queues import SurvivingQueues
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.core.remote.server_names import ServerNames
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.ping import Ping
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.core.store.durability import Durability
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.arrival import Arrival
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.core.transfer.transactional_sending import TransactionalSending


class QueueManagerParts:
    """The parts of a queue manager, whose methods are the steps of the specifications. A fault is a replacement for one
    of these parts.

    ``__init__`` lists the parts by layer, from the lowest to the highest. A part calls only parts of its own layer and
    of lower layers. If a higher layer must act, the part posts an event (``events.py``). The attributes are annotated
    for mypy, which reads the dispatch tables of other modules before it has inferred their types.
    """

    def __init__(self, qm: QM) -> None:
        # Store. Spec: MS-MQQB 3.1.1.3.2, MS-MQDMPR 3.1.1.
        self.durability: Durability = Durability(qm)
        self.directory_link: DirectoryLink = DirectoryLink(qm)

        # Names. Spec: MS-MQMQ 2.1, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.26, MS-MQQB 3.1.7.4, 3.1.7.5.
        self.numbering: Numbering = Numbering(qm)
        self.queue_names: QueueNames = QueueNames(qm)
        self.queue_paths: QueuePaths = QueuePaths(qm)
        self.queue_formats: QueueFormats = QueueFormats(qm)
        self.destinations: Destinations = Destinations(qm)
        self.next_hops: NextHops = NextHops(qm)
        self.security_lookup: SecurityLookup = SecurityLookup(qm)
        self.cache_timers: CacheTimers = CacheTimers(qm)

        # Queueing. Spec: MS-MQDMPR 3.1.4, 3.1.7, 3.2.
        self.lifetimes: Lifetimes = Lifetimes(qm)
        self.quotas: Quotas = Quotas(qm)
        self.seeking: Seeking = Seeking(qm)
        self.cursors: Cursors = Cursors(qm)
        self.waiting: Waiting = Waiting(qm)
        self.positions: Positions = Positions(qm)
        self.transaction_operations: TransactionOperations = TransactionOperations(qm)
        self.reading: Reading = Reading(qm)
        self.two_phase_reading: TwoPhaseReading = TwoPhaseReading(qm)
        self.queue_opening: QueueOpening = QueueOpening(qm)
        self.publishing: Publishing = Publishing(qm)
        self.queues: Queues = Queues(qm)
        self.surviving_queues: SurvivingQueues = SurvivingQueues(qm)
        self.journaling: Journaling = Journaling(qm)
        self.transaction_events: TransactionEvents = TransactionEvents(qm)
        self.transaction_records: TransactionRecords = TransactionRecords(qm)

        # Sessions. Spec: MS-MQQB 3.1.2, 3.1.5.2 to 3.1.5.4, 3.1.5.9, 3.1.6, 3.1.7.6.
        self.session_timers: SessionTimers = SessionTimers(qm)
        self.dispatch_collection: DispatchCollection = DispatchCollection(qm)
        self.connecting: Connecting = Connecting(qm)
        self.session_initialization: SessionInitialization = SessionInitialization(qm)
        self.closing: Closing = Closing(qm)
        self.ping: Ping = Ping(qm)
        self.resolving: Resolving = Resolving(qm)
        self.establishing: Establishing = Establishing(qm)
        self.session_opening: SessionOpening = SessionOpening(qm)

        # Transfer. Spec: MS-MQQB 3.1.5.1, 3.1.5.5 to 3.1.5.8, 3.1.7.
        self.transactional_sending: TransactionalSending = TransactionalSending(qm)
        self.session_acks: SessionAcks = SessionAcks(qm)
        self.security_on_receipt: SecurityOnReceipt = SecurityOnReceipt(qm)
        self.securing: Securing = Securing(qm)
        self.sending: Sending = Sending(qm)
        self.expiring: Expiring = Expiring(qm)
        self.order_acks: OrderAcks = OrderAcks(qm)
        self.own_messages: OwnMessages = OwnMessages(qm)
        self.admin_acks: AdminAcks = AdminAcks(qm)
        self.tracing: Tracing = Tracing(qm)
        self.history: History = History(qm)
        self.arrival: Arrival = Arrival(qm)
        self.final_acks: FinalAcks = FinalAcks(qm)
        self.admission: Admission = Admission(qm)
        self.routing: Routing = Routing(qm)
        self.in_sequence: InSequence = InSequence(qm)
        self.receiving: Receiving = Receiving(qm)
        self.identifying: Identifying = Identifying(qm)
        self.enqueueing: Enqueueing = Enqueueing(qm)
        self.administering: Administering = Administering(qm)

        # Enterprise. Spec: MS-MQQB 3.1.3, MS-MQDMPR 3.1.3, MS-MQSO 6.6.2.
        self.initialization: Initialization = Initialization(qm)
        self.membership: Membership = Membership(qm)
        self.directory_client: DirectoryClient = DirectoryClient(qm)
        self.restoring: Restoring = Restoring(qm)

        # Remote reading. Spec: MS-MQQP 3.1, 3.2, MS-MQMP 3.1.4.
        self.remote_reads: RemoteReads = RemoteReads(qm)
        self.remote_starting: RemoteStarting = RemoteStarting(qm)
        self.remote_ending: RemoteEnding = RemoteEnding(qm)
        self.remote_opening: RemoteOpening = RemoteOpening(qm)
        self.qmcomm: Qmcomm = Qmcomm(qm)
        self.object_properties: ObjectProperties = ObjectProperties(qm)
        self.rpc_serving: RpcServing = RpcServing(qm)
        self.client_tasks: ClientTasks = ClientTasks(qm)
        self.server_names: ServerNames = ServerNames(qm)
        self.server_bindings: ServerBindings = ServerBindings(qm)
        self.client_reading: ClientReading = ClientReading(qm)
        self.client_cancelling: ClientCancelling = ClientCancelling(qm)
        self.client_opening: ClientOpening = ClientOpening(qm)

        # Commands. Spec: MS-MQQB 3.1.4.
        self.answering: Answering = Answering(qm)
        self.coordinating: Coordinating = Coordinating(qm)
        self.transaction_commands: TransactionCommands = TransactionCommands(qm)
        self.queue_commands: QueueCommands = QueueCommands(qm)
        self.client_commands: ClientCommands = ClientCommands(qm)
        self.configuring: Configuring = Configuring(qm)
        self.transfer_commands: TransferCommands = TransferCommands(qm)
        self.inspection: Inspection = Inspection(qm)
        self.commands: Commands = Commands(qm)
        self.inputs: Inputs = Inputs(qm)
