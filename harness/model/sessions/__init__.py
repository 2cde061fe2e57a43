"""The area of sessions that a peer opens, with every packet in every state."""
