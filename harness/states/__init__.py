"""Check the state machines of the documents by means of tables of states and events. There is one check for each
cell.
"""
