"""Tables of states and events: what a machine of the documents does in each cell, and checks of every cell."""
