"""Figures for papers of what runs, sweeps and comparisons have stored: any column over any other."""
