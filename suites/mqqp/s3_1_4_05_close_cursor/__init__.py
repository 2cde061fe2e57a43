"""MS-MQQP 3.1.4.5 RemoteQMCloseCursor (Opnum 4)."""
