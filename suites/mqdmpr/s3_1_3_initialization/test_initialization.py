"""MS-MQDMPR 3.1.3 Initialization: keys, system queues, names."""

from __future__ import annotations

import base64

from harness.expectations import holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.wire.protection import ADVANCED, BASE, ENHANCED, listed_keys
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqdmpr.steps.shown import queue_manager
from suites.mqqb.steps.pinging import element

BITS = {BASE: 512, ENHANCED: 1024, ADVANCED: 1024}
SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal")
OF_THE_QUEUE_MANAGER = (r"private$\order_queue$", r"private$\notify_queue$")
LEAST_EXPONENT = 3


@needs("security", "queue_control")
@covers("MQDMPR-3.1.3-24", "MQDMPR-3.1.3-25", "MQDMPR-3.1.3-26", "MQDMPR-3.1.3-D07")
def test_there_is_a_key_to_verify_for_each_provider(sut, judge):
    """The list of keys that the SUT tells of: each is of its provider's length, and one that RSA can have."""
    told = base64.b64decode(sut.control.call("identity").get("public_signing_keys_base64") or "")
    if not told:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT tells nobody the keys that its signatures are verified with")
        return
    keys = listed_keys(told)
    judge("MQDMPR-3.1.3-24", expected=holds("several keys"), observed=len(keys) > 1 or f"{len(keys)} keys")
    sizes = {name: key.modulus.bit_length() for name, key in keys.items()}
    judge("MQDMPR-3.1.3-25", expected=sorted(BITS), observed=sorted(sizes))
    judge("MQDMPR-3.1.3-D07", expected={name: BITS.get(name) for name in sizes}, observed=sizes)
    invalid = [
        name
        for name, key in keys.items()
        if not (key.modulus % 2 and key.exponent % 2 and LEAST_EXPONENT <= key.exponent < key.modulus)
    ]
    judge("MQDMPR-3.1.3-26", expected=[], observed=invalid)


@needs("receive")
@covers("MQDMPR-3.1.3-05", "MQDMPR-3.1.3-D12")
def test_there_are_three_system_queues(sut, judge):
    """Those for dead letters, transactional dead letters and the journal can be looked into."""
    found = {queue: _looked_into(sut, queue) for queue in SYSTEM_QUEUES}
    judge.all(expected=dict.fromkeys(SYSTEM_QUEUES, "there"), observed=found)


def _looked_into(sut, queue):
    try:
        sut.control.call("peek", queue=queue, limit=1)
    except ControlRefused as refused:
        return str(refused)
    return "there"


@needs("qm2qm")
@covers("MQDMPR-3.1.3-27")
def test_queues_of_the_queue_manager_are_not_opened(remote, sut, judge):
    """A queue of the SUT is opened for remote reading, those of order acknowledgments and notifications are not."""
    association = remote.associate()
    plain = remote.open_remote(association)
    others = [
        remote.open_remote(association, form=queue_format(DIRECT, rf"TCP:{sut.address}\{name}"))
        for name in OF_THE_QUEUE_MANAGER
    ]
    observed = [plain.outcome, *("refused" if one.failed else one.outcome for one in others)]
    evidence = [frame for call in (plain, *others) for frame in call.evidence]
    judge("MQDMPR-3.1.3-27", expected=["MQ_OK", "refused", "refused"], observed=observed, evidence=evidence)


@needs("inspect")
@covers("MQDMPR-3.1.3-D03")
def test_the_qualified_name_is_that_of_the_computer_in_its_domain(sut, judge):
    """QualifiedComputerName is ComputerName, a period and more."""
    shown = queue_manager(sut)
    computer, qualified = (str(element(shown, name)).lower() for name in ("ComputerName", "QualifiedComputerName"))
    first, _, domain = qualified.partition(".")
    judge("MQDMPR-3.1.3-D03", expected=[computer, True], observed=[first, bool(domain)])
