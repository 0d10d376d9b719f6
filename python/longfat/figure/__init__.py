"""Figures: what they show as data, and how they are drawn."""
