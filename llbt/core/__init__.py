"""The data types of the package: arrays, tables of counts, and the result of a test."""
