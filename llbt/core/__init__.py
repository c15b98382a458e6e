"""What everything is made of: arrays and their types, tables of counts, and the statistics of a test."""
