"""MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages."""
