"""MS-MQQB 2.1.1 Protocol Session."""
