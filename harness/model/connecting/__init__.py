"""The part of the model in which a system opens sessions to the peer."""
