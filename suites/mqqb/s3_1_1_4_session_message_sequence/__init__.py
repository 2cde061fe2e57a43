"""MS-MQQB 3.1.1.4 Session Message Sequence."""
