"""The neighbours of the model: sign tests, agreement, readings of rankings, judges, planning."""
