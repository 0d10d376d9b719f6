"""`longfat screen`: any set of congestion controls side by side over a grid of paths, on one page.

`columns` says what is measured and how, `grid` which runs that takes, `estimate` turns runs into a table,
`command` runs and stores. A worker process imports `measure` alone.
"""
