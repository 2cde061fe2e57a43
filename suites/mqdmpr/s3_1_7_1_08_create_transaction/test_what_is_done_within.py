"""MS-MQDMPR 3.1.7.1.8 Create Transaction, and what 3.1.7.1.9, 3.1.7.1.10, 3.1.7.1.13 do within a transaction."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from harness.run.marks import covers, needs
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")


@covers("MQDMPR-3.1.7.1.8-03", "MQDMPR-3.1.7.1.8-04", "MQDMPR-3.1.7.1.8-05")
def test_a_transaction_is_known_by_its_identifier(peer, sut, judge):
    """Two begin with identifiers that the check gives. Both are listed under these; what was received within each is
    back when that is aborted, and only that.
    """
    application = Application(peer, sut, transactional=True)
    application.fill("first", "second")
    wanted = [str(uuid5(NAMESPACE_URL, f"{sut.own} {number}")) for number in (1, 2)]
    begun = [application.begin(transaction=one) for one in wanted]
    judge("MQDMPR-3.1.7.1.8-03", expected=wanted, observed=begun)
    judge("MQDMPR-3.1.7.1.8-04", expected=dict.fromkeys(begun, 0), observed=application.operations(*begun))
    for one in begun:
        application.take(transaction=one)
    gone = application.labels()
    application.decide("abort", begun[1])
    back = application.labels()
    application.decide("commit", begun[0])
    observed = [gone, back, application.labels(), application.operations(*begun)]
    judge("MQDMPR-3.1.7.1.8-05", expected=[[], ["second"], ["second"], {}], observed=observed)
