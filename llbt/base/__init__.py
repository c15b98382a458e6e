"""Shared code: checks of arguments, memory limits, and tables as text, Markdown, HTML and LaTeX."""
