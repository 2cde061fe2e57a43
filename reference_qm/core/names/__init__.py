"""Resolves names to queues, queue managers, keys and accounts, and numbers messages and transactions."""
