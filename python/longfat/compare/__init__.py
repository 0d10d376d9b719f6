"""`longfat compare`: any set of congestion controls side by side over a grid of paths, on one page.

`columns` says what is measured and how, `grid` makes the runs, `estimate` turns runs into a table, and
`command` runs and stores them. A worker process imports only `measure`.
"""
