"""The middle layer: the agent loop, its tools, its definitions and the model clients."""
