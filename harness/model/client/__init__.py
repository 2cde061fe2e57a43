"""The part of the model in which a system reads queues of another queue manager."""
