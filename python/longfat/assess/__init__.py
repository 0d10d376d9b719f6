"""`longfat assess`: a dossier on one congestion control, by the questions of RFC 9743 (BCP 133).

`rfc9743.toml` has the RFC's rows and what is run for them, which `criteria` reads; `networks` makes the
scenarios, `tasks` the runs, `estimate` the numbers and their intervals, `headline` the ten lines of the first
screen, and `command` runs and stores everything. A worker process imports only `measure`.
"""
