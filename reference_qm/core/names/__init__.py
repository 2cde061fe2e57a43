"""Resolves names to queues, queue managers, keys and accounts, and assigns numbers."""
