"""The area of sessions that a peer opens: their states, and every packet in each state."""
