"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId (Opnum 10)."""
