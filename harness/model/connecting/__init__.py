"""The area of a system that opens sessions to the peer."""
