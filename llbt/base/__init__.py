"""What all rooms use: checks of arguments, limits of memory, and tables as text, Markdown, HTML and LaTeX."""
