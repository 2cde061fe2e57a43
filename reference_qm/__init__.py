"""The protocol: a reference queue manager that knows nothing of tests (design: docs/design.md)."""
