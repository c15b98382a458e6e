"""The command line: files in, tables out."""
