"""MS-MQQB 3.1.5.2.1 Resolve Host Address: after the last address of a host name, the initiator tries the first address
again.
"""

from __future__ import annotations

import itertools

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME, list_connection_history
from suites.mqqb.steps.sender import Sender


@covers("MQQB-3.1.5.2.1-33", "MQQB-3.1.5.2.1-34", "MQQB-3.1.5.2.1-35", "MQQB-3.1.5.2.3-11")
@needs("send", "two_addresses", "management")
def test_first_address_is_tried_again_after_last(peer, sut, judge):
    """The peer drops the session at the second address of a host name. ConnectionHistory shows attempts at the first,
    second, first and second address.
    """
    sender = Sender(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    sender.send(1)
    session = sender.poll_session(2 * sut.connect_timeout_ms)
    attempts = [entry["AddressList"] for entry in list_connection_history(sut, PEER_QUEUE_BY_HOST_NAME)]
    if session is None and peer.address in attempts:
        judge(
            "MQQB-3.1.5.2.1-34",
            expected=holds("the SUT connects to the address of its second attempt"),
            observed=f"attempts at {', '.join(dict.fromkeys(attempts))}, but no connection at {peer.address}",
        )
        return
    if session is None:
        raise ConformanceFailure("the SUT opened no connection on which it could send its messages")
    sent = sender.collect_messages(session, 1)
    session.close()
    again = sender.poll_session(2 * sut.connect_timeout_ms)  # after any further addresses
    evidence = [*sent, *([again.acknowledge_all()] if again else [])]
    tried = [entry["AddressList"] for entry in list_connection_history(sut, PEER_QUEUE_BY_HOST_NAME)]
    names = {tried[0]: "first", peer.address: "second"}
    turns = [names[address] for address, _ in itertools.groupby(tried) if address in names]
    expected = ["first", "second", "first", "second"]
    judge(
        "MQQB-3.1.5.2.1-33",
        "MQQB-3.1.5.2.1-34",
        "MQQB-3.1.5.2.1-35",
        expected=expected,
        observed=turns,
        case="addresses of the attempts",
        evidence=evidence,
    )
    if again is None:
        return
    since = session.received[0].number
    request = again.received[0]
    pings = [one for one in peer.recorder.list_pings(from_sut=True) if since < one.number < request.number]
    if not pings and request.kind == "EstablishConnection":
        judge(
            "MQQB-3.1.5.2.3-11",
            expected=1,
            observed=request["EstablishConnectionHeader"].SE,
            case="SE of the request at the second address, without a ping",
            evidence=request,
        )
