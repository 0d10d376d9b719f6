"""Figures for papers of what runs, sweeps and screens have stored: any column over any other."""
