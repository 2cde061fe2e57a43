"""MS-MQQB 3.1.7.10 Get Message Data Element From Buffer."""
