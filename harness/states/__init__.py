"""Check the state machines of the documents by means of tables of states and events, with one check for each cell."""
