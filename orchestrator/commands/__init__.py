"""One module a command; `decurion.orchestrator.cli` loads each only when it is asked for."""
