"""The top layer: sessions, worktrees, campaigns, views, reports and the command line."""
