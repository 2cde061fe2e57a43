"""MS-MQDMPR 3.1.7.1, 3.1.7.2 and 3.1.7.3: every event in these sections has a method, and the docstring of the method
names the section.

Events of the directory (3.1.7.1.18 to 3.1.7.1.25) take a directory instead of the queue manager. Events that construct
packets and defaults need no replaceable part.
"""

import re
from pathlib import Path

import pytest

from harness.rules.catalogue import load_index
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.names.queue_paths import QueuePaths
from reference_qm.core.queueing import queue_lifecycle
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.store import messages
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.directory import events

EVENTS = {
    "3.1.7.1.1": QueueCursors.open,
    "3.1.7.1.2": QueueOpening.close_cursor,
    "3.1.7.1.3": QueueLifecycle.create,
    "3.1.7.1.4": QueueLifecycle.delete,
    "3.1.7.1.5": QueueOpening.open_queue,
    "3.1.7.1.6": QueueOpening.close_queue,
    "3.1.7.1.7": QueueLifecycle.purge,
    "3.1.7.1.8": TransactionEvents.create_transaction,
    "3.1.7.1.9": MessageEnqueueing.enqueue_message,
    "3.1.7.1.10": MessageReading.dequeue_message,
    "3.1.7.1.11": TwoPhaseReading.dequeue_message_begin,
    "3.1.7.1.12": TwoPhaseReading.dequeue_message_end,
    "3.1.7.1.13": MessageReading.read_by_lookup_identifier,
    "3.1.7.1.14": MessageReading.peek_next_message,
    "3.1.7.1.15": MessageReading.peek_message,
    "3.1.7.1.16": MessagePositions.move_message,
    "3.1.7.1.17": WaitingReads.cancel_waiting_read,
    "3.1.7.1.18": events.create_directory_object,
    "3.1.7.1.19": events.delete_directory_object,
    "3.1.7.1.20": events.read_directory,
    "3.1.7.1.21": events.read_directory_begin,
    "3.1.7.1.22": events.read_directory_next,
    "3.1.7.1.23": events.read_directory_end,
    "3.1.7.1.24": PublicQueuePublishing.write,
    "3.1.7.1.25": events.check_directory_online,
    "3.1.7.1.26": QueuePaths.get_queue_path,
    "3.1.7.1.27": MessageEnqueueing.enqueue_to_open_queue,
    "3.1.7.1.28": DispatchCollection.add,
    "3.1.7.1.29": DispatchCollection.remove,
    "3.1.7.1.30": messages.serialize_message,
    "3.1.7.1.31": messages.deserialize_message,
    "3.1.7.1.32": messages.serialize_message,
    "3.1.7.1.33": queue_lifecycle.make_queue_with_defaults,
    "3.1.7.1.34": DispatchCollection.remove_queue,
    "3.1.7.2.1": MessagePositions.delete_message,
    "3.1.7.2.2": MessagePositions.on_message_available,
    "3.1.7.2.3": TransferAdministering.pause_queue,
    "3.1.7.2.4": TransferAdministering.resume_queue,
    "3.1.7.2.5": QueueQuotas.begin_flow_control,
    "3.1.7.2.6": QueueQuotas.end_flow_control,
    "3.1.7.2.7": MessageExpiring.delete_messages_not_received_in_time,
    "3.1.7.3.1": WaitingReads.wait_for_new_message,
    "3.1.7.3.2": MessageSearch.seek_available,
    "3.1.7.3.3": MessageSearch.seek_with_identifier,
    "3.1.7.3.4": WaitingReads.wait_for_new_message,
    "3.1.7.3.5": WaitingReads.end_wait_without_message,
    "3.1.7.3.6": WaitingReads.pass_message_to_waiting_reader,
    "3.1.7.3.7": WaitingReads.pass_new_message_to_waiting_readers,
    "3.1.7.3.8": QueueNames.expand_format_name,
    "3.1.7.3.9": MessageSending.dispatch_messages,
}


@pytest.mark.parametrize("section", EVENTS)
def test_method_of_a_protocol_event_names_its_section(section):
    method = EVENTS[section]
    assert re.search(rf"{re.escape(section)}(?!\.?\d)", method.__doc__), f"{method.__qualname__} does not name it"


@pytest.mark.parametrize("heading", ["3.1.7.1", "3.1.7.2", "3.1.7.3"])
def test_every_documented_protocol_event_is_in_the_event_table(heading):
    printed = {name.split("-")[1] for name in load_index() if name.startswith(f"MQDMPR-{heading}.")}
    below = {".".join(section.split(".")[:5]) for section in printed}
    assert below - {"3.1.7.3.6", "3.1.7.3.7"} <= EVENTS.keys()


def test_internal_events_are_raised_by_no_protocol():
    """Only the queueing parts and the timers raise the internal events (MS-MQDMPR 3.1.7.3). The event 3.1.7.3.9 is
    excepted: the parts that add and remove messages raise it.
    """
    internal = re.compile(
        r"\.(wait_for_new_message|seek_available|seek_with_identifier|pass_message_to_waiting_reader)\("
    )
    root = Path(queue_lifecycle.__file__).parents[2]
    outside = [path for path in root.rglob("*.py") if path.parent.name != "queueing"]
    assert len(outside) > 100
    assert [path.name for path in outside if internal.search(path.read_text(encoding="utf-8"))] == []
