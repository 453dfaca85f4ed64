"""The agents that ship: one Markdown file each, read by `agents.catalogue` like anyone else's."""
