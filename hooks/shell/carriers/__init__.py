"""Programs whose arguments, input or files carry code or other commands, one family a module."""
