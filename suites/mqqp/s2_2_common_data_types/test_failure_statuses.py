"""MS-MQQP 1.8 Vendor-Extensible Fields, 2.2 Common Data Types: the statuses of failures."""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.wire.rpc_status import is_failure
from suites.mqqp.steps.refusals import REFUSED_CALLS_BY_METHOD, REFUSED_PURGE_CALLS_BY_METHOD
from suites.mqqp.steps.statuses import has_customer_bit, is_documented_status

pytestmark = needs("qm2qm")

FAILING_CALLS_BY_METHOD = REFUSED_CALLS_BY_METHOD | REFUSED_PURGE_CALLS_BY_METHOD


@covers("MQQP-1.8-D01", "MQDMPR-1.8-D01", "MQQP-2.2-D01")
@pytest.mark.parametrize("method", FAILING_CALLS_BY_METHOD)
def test_failure_has_severity_bit_and_unlisted_code_customer_bit(remote, judge, method):
    """The client makes invalid calls. Every failure that the SUT returns has the S bit set, and a code that no document
    lists also has the C bit set.
    """
    calls = FAILING_CALLS_BY_METHOD[method](remote.open())
    statuses = [call.status for call in calls if call.status]
    without = [f"{code:#010x}" for code in statuses if not is_failure(code)]
    if not statuses:
        judge.mark_not_exercised(
            "MQQP-1.8-D01",
            "MQDMPR-1.8-D01",
            "MQQP-2.2-D01",
            reason="the SUT answered every refused call with a fault",
            evidence=calls,
        )
        return
    judge("MQQP-2.2-D01", expected=none("failure without the severity bit"), observed=without, evidence=calls)
    unknown = [f"{code:#010x}" for code in statuses if not (is_documented_status(code) or has_customer_bit(code))]
    judge(
        "MQQP-1.8-D01",
        "MQDMPR-1.8-D01",
        expected=none("unlisted code without the customer bit"),
        observed=unknown,
        evidence=calls,
    )
