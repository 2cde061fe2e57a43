"""MS-MQQB 2.2 Message Syntax."""
