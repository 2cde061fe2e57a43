"""Check state machines of the documents with tables of states and events, with a check for every cell."""
