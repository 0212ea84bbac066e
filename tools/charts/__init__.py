"""Charts that the program draws itself."""
