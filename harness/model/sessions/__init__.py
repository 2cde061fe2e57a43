"""Sessions that a peer opens: their states, and every packet in each of them."""
