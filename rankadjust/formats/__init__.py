"""Readers of table formats: a text in, grids of text out (rankadjust.formats.grid)."""
