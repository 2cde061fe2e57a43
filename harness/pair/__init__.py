"""Let two systems exchange messages through relays of the tester; the reference takes no part.

``systems`` opens both systems and relays their traffic. ``scenarios`` defines the exchanges, and ``running`` runs all
scenarios in both directions. ``outcomes`` determines the results, and ``grid`` shows them.
"""
