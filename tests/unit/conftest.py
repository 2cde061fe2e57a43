"""Examples are drawn by the budgets of all tests, those too that state none."""

import budgets  # noqa: F401
