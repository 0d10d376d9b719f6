"""The report: one self-contained page and figures for papers, built from stored results."""
