"""Worker processes that parse, write and check documents."""
