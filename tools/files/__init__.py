"""Tools on whole files: read, write, edit."""
