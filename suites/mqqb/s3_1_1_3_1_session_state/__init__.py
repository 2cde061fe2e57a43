"""MS-MQQB 3.1.1.3.1 Session State, with 3.1.1.3.1.2, 3.1.1.3.1.3."""
