"""MS-MQDMPR 3.1.7.1, 3.1.7.2 and 3.1.7.3: every event below these headings has its procedure, which names the section.

Those of the directory take a directory instead of the queue manager (3.1.7.1.18 to 3.1.7.1.25), those that make packets
and defaults nothing that could be replaced.
"""

import re
from pathlib import Path

import pytest

from harness.rules.catalogue import load_index
from reference_qm.core.protocol import messages
from reference_qm.core.protocol.procedures import Procedures
from reference_qm.core.queueing import queues
from reference_qm.directory import events

TABLE = Procedures()
EVENTS = {
    "3.1.7.1.1": TABLE.open_cursor,
    "3.1.7.1.2": TABLE.close_cursor,
    "3.1.7.1.3": TABLE.create_queue,
    "3.1.7.1.4": queues.delete_queue,
    "3.1.7.1.5": TABLE.open_queue,
    "3.1.7.1.6": TABLE.close_queue,
    "3.1.7.1.7": queues.purge_queue,
    "3.1.7.1.8": TABLE.create_transaction,
    "3.1.7.1.9": TABLE.enqueue_message,
    "3.1.7.1.10": TABLE.dequeue_message,
    "3.1.7.1.11": TABLE.dequeue_message_begin,
    "3.1.7.1.12": TABLE.dequeue_message_end,
    "3.1.7.1.13": TABLE.read_by_lookup_identifier,
    "3.1.7.1.14": TABLE.peek_next_message,
    "3.1.7.1.15": TABLE.peek_message,
    "3.1.7.1.16": TABLE.move_message,
    "3.1.7.1.17": TABLE.cancel_waiting_read,
    "3.1.7.1.18": events.create_directory_object,
    "3.1.7.1.19": events.delete_directory_object,
    "3.1.7.1.20": events.read_directory,
    "3.1.7.1.21": events.read_directory_begin,
    "3.1.7.1.22": events.read_directory_next,
    "3.1.7.1.23": events.read_directory_end,
    "3.1.7.1.24": events.write_directory,
    "3.1.7.1.25": events.check_directory_online,
    "3.1.7.1.26": TABLE.get_queue_path,
    "3.1.7.1.27": TABLE.enqueue_to_open_queue,
    "3.1.7.1.28": TABLE.add_to_dispatch_collection,
    "3.1.7.1.29": TABLE.remove_from_dispatch_collection,
    "3.1.7.1.30": messages.serialize_message,
    "3.1.7.1.31": messages.deserialize_message,
    "3.1.7.1.32": messages.serialize_message,
    "3.1.7.1.33": queues.set_queue_defaults,
    "3.1.7.1.34": TABLE.remove_queue_from_dispatch_collection,
    "3.1.7.2.1": TABLE.delete_message,
    "3.1.7.2.2": TABLE.message_available,
    "3.1.7.2.3": TABLE.pause_queue,
    "3.1.7.2.4": TABLE.resume_queue,
    "3.1.7.2.5": TABLE.begin_flow_control,
    "3.1.7.2.6": TABLE.end_flow_control,
    "3.1.7.2.7": TABLE.delete_not_received,
    "3.1.7.3.1": TABLE.wait_for_new_message,
    "3.1.7.3.2": TABLE.seek_available,
    "3.1.7.3.3": TABLE.seek_with_identifier,
    "3.1.7.3.4": TABLE.wait_for_new_message,
    "3.1.7.3.5": TABLE.stop_reader,
    "3.1.7.3.6": TABLE.satisfy_reader,
    "3.1.7.3.7": TABLE.release_readers,
    "3.1.7.3.8": TABLE.expand_format_name,
    "3.1.7.3.9": TABLE.dispatch_messages,
}


@pytest.mark.parametrize("section", EVENTS)
def test_the_procedure_of_an_event_names_its_section(section):
    procedure = EVENTS[section]
    assert re.search(rf"{re.escape(section)}(?!\.?\d)", procedure.__doc__), f"{procedure.__qualname__} does not name it"


@pytest.mark.parametrize("heading", ["3.1.7.1", "3.1.7.2", "3.1.7.3"])
def test_every_event_below_a_heading_is_in_the_table(heading):
    printed = {name.split("-")[1] for name in load_index() if name.startswith(f"MQDMPR-{heading}.")}
    below = {".".join(section.split(".")[:5]) for section in printed}
    assert below - {"3.1.7.3.6", "3.1.7.3.7"} <= EVENTS.keys()


def test_no_protocol_raises_an_internal_event():
    """Only the queue side and the timers do (MS-MQDMPR 3.1.7.3); 3.1.7.3.9 is raised by those who add and remove."""
    internal = re.compile(r"procedures\.(wait_for_new_message|seek_available|seek_with_identifier|satisfy_reader)\(")
    root = Path(queues.__file__).parents[2]
    outside = [path for path in root.rglob("*.py") if path.parent.name != "queueing"]
    assert len(outside) > 100
    assert [path.name for path in outside if internal.search(path.read_text(encoding="utf-8"))] == []
