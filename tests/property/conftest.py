"""Loads the budgets of examples, which also apply to tests that state no budget."""

import budgets  # noqa: F401
