"""MS-MQQB 3.1.7.1 Send User Message Event, with 3.1.7.1.1, 3.1.7.1.6, 3.1.7.1.7."""
