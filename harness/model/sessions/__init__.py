"""The part of the model in which a peer opens sessions and sends every packet in every state."""
