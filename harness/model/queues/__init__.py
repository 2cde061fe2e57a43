"""The queues of one queue manager, as applications see them."""
