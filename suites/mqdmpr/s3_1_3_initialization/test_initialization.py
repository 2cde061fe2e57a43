"""MS-MQDMPR 3.1.3 Initialization: keys, system queues and names."""

from __future__ import annotations

import base64

from harness.expectations import any_order, each, holds, none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.protection import ADVANCED_PROVIDER, BASE_PROVIDER, ENHANCED_PROVIDER, read_listed_keys
from harness.wire.rpc_qmcomm import DIRECT, PEEK_ACCESS, RECEIVE_ACCESS, queue_format
from suites.mqdmpr.steps import openings

KEY_LENGTHS = {BASE_PROVIDER: 512, ENHANCED_PROVIDER: 1024, ADVANCED_PROVIDER: 1024}
SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal")
INTERNAL_QUEUES = (r"private$\order_queue$", r"private$\notify_queue$")
LEAST_PUBLIC_EXPONENT = 3


@needs("security", "queue_control")
@covers("MQDMPR-3.1.3-24", "MQDMPR-3.1.3-25", "MQDMPR-3.1.3-26", "MQDMPR-3.1.3-D07")
def test_each_provider_has_valid_signing_key(sut, judge):
    """The SUT shows one valid public signing key for each of the three providers; each key has the length that its
    provider requires.
    """
    blob = base64.b64decode(sut.control.call("identity").get("public_signing_keys_base64") or "")
    if not blob:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT shows no keys for the verification of its signatures")
        return
    keys = read_listed_keys(blob)
    judge(
        "MQDMPR-3.1.3-24",
        expected=holds("more than one"),
        observed=len(keys) > 1 or f"{len(keys)}",
        case="number of signing keys",
    )
    sizes = {name: key.modulus.bit_length() for name, key in keys.items()}
    judge("MQDMPR-3.1.3-25", expected=any_order(*KEY_LENGTHS), observed=list(sizes), case="providers with a key")
    judge(
        "MQDMPR-3.1.3-D07",
        expected={name: KEY_LENGTHS.get(name) for name in sizes},
        observed=sizes,
        case="bits of the keys",
    )
    invalid = [
        name
        for name, key in keys.items()
        if not (key.modulus % 2 and key.exponent % 2 and LEAST_PUBLIC_EXPONENT <= key.exponent < key.modulus)
    ]
    judge("MQDMPR-3.1.3-26", expected=none("invalid RSA key"), observed=invalid)


@needs("receive")
@covers("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12")
def test_three_system_queues_can_be_peeked(sut, judge):
    """An application can peek at the dead-letter queue, the transactional dead-letter queue and the journal."""
    peeks = {queue: sut.attempt("peek", queue=queue, limit=1) for queue in SYSTEM_QUEUES}
    judge.all(expected=each(Outcome.DONE, "peek of a system queue"), observed=peeks)


@needs("qm2qm")
@covers("MQDMPR-3.1.3-27")
def test_remote_reader_cannot_open_internal_queues(remote, sut, judge):
    """A remote reader can open an ordinary queue, but not the queue for order acknowledgments or the queue for
    notifications, whichever access it requests and however it spells the name.
    """
    association = remote.associate()
    reader = remote.open_remote(association)
    others = {
        f"{name} with access {access}": remote.open_remote(
            association, form=queue_format(DIRECT, rf"TCP:{sut.address}\{name}"), access=access
        )
        for name in (*INTERNAL_QUEUES, *map(str.upper, INTERNAL_QUEUES))
        for access in (RECEIVE_ACCESS, PEEK_ACCESS)
    }
    refused = {name: one.failed or one.outcome for name, one in others.items()}
    judge(
        "MQDMPR-3.1.3-27",
        expected={"open of an ordinary queue": "MQ_OK", "opens of internal queues": each(holds("refused"))},
        observed={"open of an ordinary queue": reader.outcome, "opens of internal queues": refused},
        evidence=[reader, *others.values()],
    )


@needs("open_to_send", "receive", "qm2qm")
@covers("MQDMPR-3.1.3-27")
def test_application_cannot_open_internal_queues(remote, sut, judge):
    """An application of the SUT can open an ordinary queue, but can open the queue for order acknowledgments and the
    queue for notifications neither for sending nor for reading, whichever name of the local computer it uses.
    """
    ordinary = remote.open_remote(remote.associate())
    attempts: dict[str, str] = {}
    for name in (*INTERNAL_QUEUES, *map(str.upper, INTERNAL_QUEUES)):
        for access in ("receive", "peek"):
            attempts[f"{access} of {name}"] = sut.attempt("open_queue", queue=name, access=access)
        for host in ("OS:.", "OS:localhost", f"TCP:{sut.address}"):
            to = rf"DIRECT={host}\{name}"
            attempts[f"send to {to}"] = openings.open_to_send(sut, to)
    judge(
        "MQDMPR-3.1.3-27",
        expected=each(Outcome.REFUSED, "opening of an internal queue"),
        observed=attempts,
        evidence=ordinary,
    )


@needs("inspect")
@covers("MQDMPR-3.1.3-D03")
def test_qualified_computer_name_has_domain(sut, judge):
    """QualifiedComputerName consists of ComputerName, a period and a domain."""
    queue_manager = sut.inspect_queue_manager()
    computer, qualified = (str(queue_manager[name]).lower() for name in ("ComputerName", "QualifiedComputerName"))
    host, _, domain = qualified.partition(".")
    judge(
        "MQDMPR-3.1.3-D03",
        expected={
            "computer in QualifiedComputerName": computer,
            "domain in QualifiedComputerName": holds("a domain name"),
        },
        observed={"computer in QualifiedComputerName": host, "domain in QualifiedComputerName": bool(domain)},
    )
