"""MS-MQSO 4.3.1 Black Box Relationship Diagram."""
