"""MS-MQQP 3.1.1: the collections of remote readers, and the handles that represent open queue descriptors."""

from remote_reader import LICENCE, PLAIN, Server

from reference_qm.core.queue_manager import HIGHEST_HANDLE
from reference_qm.surface.commands import Inspect

INFINITE_TIMEOUT = 0xFFFFFFFF


def test_inspection_shows_open_handles_and_pending_reads():
    server = Server()
    reader = server.connect()
    opened = reader.open()
    reader.begin_read(opened.handle, dwRequestID=5, ulTimeout=INFINITE_TIMEOUT)
    shown = server.ask(Inspect())["adm"]
    assert shown["RemoteReadingServerState"] == {
        "RemoteReadEntryCollection": [
            {
                "OpenQueueDescriptorHandle": opened.handle,
                "Timeout": INFINITE_TIMEOUT,
                "Action": "MQ_ACTION_RECEIVE",
                "RequestId": 5,
            }
        ],
        "OpenQueueEntryCollection": [{"OpenQueueDescriptorHandle": opened.handle, "ClientId": str(LICENCE)}],
        "RemoteQueueOpenContextHandleTable": [{"OpenQueueDescriptorReference": opened.handle}],
    }
    queue = next(one for one in shown["QueueManager"]["QueueCollection"] if one["Pathname"] == PLAIN)
    (descriptor,) = queue["OpenQueueDescriptorCollection"]
    assert (descriptor["Handle"], descriptor["RemoteReadState"]) == (opened.handle, "ReadyForRead")


def test_remote_handles_are_unique_32_bit_numbers():
    server = Server()
    server.send(b"one")
    reader = server.connect()
    first = reader.open().handle
    server.core._last_handle = HIGHEST_HANDLE - 1
    handles = [reader.open().handle for _ in range(3)]
    assert handles == [HIGHEST_HANDLE, 1 if first != 1 else 2, 2 if first != 1 else 3]
    for handle in (first, *handles):
        assert reader.read(handle, ulAction=0x80000000)["Return"] == 0
