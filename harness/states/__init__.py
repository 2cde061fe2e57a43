"""Check state machines of the documents by tables of states and events, with a check for every cell."""
