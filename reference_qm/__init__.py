"""Implements the reference queue manager. The package contains no code for tests or faults."""
