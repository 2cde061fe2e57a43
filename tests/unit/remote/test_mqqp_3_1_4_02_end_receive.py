"""MS-MQQP 3.1.4.2: RemoteQMEndReceive deletes a message that was locked, or gives it back."""

import pytest
from remote_reader import Server

NACK, ACK = 1, 2
OK = 0


@pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
def test_an_acknowledged_message_is_deleted_and_one_that_is_refused_is_given_back(wide):
    server = Server()
    for body in (b"one", b"two"):
        server.send(body)
    reader = server.connect(wide=wide)
    queue = reader.open()
    first = reader.read(queue.handle)
    assert first["Return"] == OK
    assert server.bodies() == ["two"]
    assert reader.end(first["pphContext"], NACK) == OK
    assert server.bodies() == ["one", "two"]
    again = reader.read(queue.handle)
    assert reader.end(again["pphContext"], ACK) == OK
    assert server.bodies() == ["two"]
