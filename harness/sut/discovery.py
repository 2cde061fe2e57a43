"""Discover the identity of the queue manager at an address by starting to establish a session with it, as any queue
manager may.
"""

from __future__ import annotations

import socket
import time
from uuid import UUID

from harness.wire import dissect, establish_connection
from reference_qm.codec import StreamFramer

NULL_GUID = UUID(int=0)
DISCOVERY_TIMEOUT_S = 5.0


def derive_identity_peer(peer: UUID) -> UUID:
    """Return the identifier of the peer that requests the identity of a SUT. It differs from the identifiers of the
    peers of checks (``derive_fresh_peer_file``), so that no check receives packets from this exchange.
    """
    return UUID(int=peer.int ^ 1 << 80)


def discover_identifier(address: str, port: int, client: UUID) -> UUID | None:
    """Return the identity of a SUT from its answer to an EstablishConnection with a zero ServerGuid (MS-MQQB
    2.2.3.1). Return None if the SUT does not send its identity within DISCOVERY_TIMEOUT_S, even if it sends other
    packets.
    """
    framer = StreamFramer()
    request = bytes(establish_connection(ClientGuid=client, ServerGuid=NULL_GUID))
    ends = time.monotonic() + DISCOVERY_TIMEOUT_S
    try:
        with socket.create_connection((address, port), timeout=DISCOVERY_TIMEOUT_S) as stream:
            stream.sendall(request)
            while (left_s := ends - time.monotonic()) > 0:
                stream.settimeout(left_s)
                data = stream.recv(65_536)
                if not data:
                    return None
                for packet in framer.feed(data):
                    guid = UUID(str(dissect(packet)["EstablishConnectionHeader"].ServerGuid))
                    # A system that returns the ClientGuid of the request echoes packets instead of answering them.
                    return guid if guid not in (NULL_GUID, client) else None
    except (OSError, ValueError, IndexError):
        return None  # the system does not speak the protocol; checks that need its GUID report this
    return None
