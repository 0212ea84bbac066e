"""Tools on tables: edit and aggregate."""
