"""Check the state machines of the documents with tables of states and events. There is one check for each cell of a
table, that is, for each event in each state.
"""
