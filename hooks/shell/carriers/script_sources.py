"""Which language a file holds, by its name."""

from __future__ import annotations

_BY_ENDING = {
    "python": "py pyw", "node": "js mjs cjs ts mts cts jsx tsx", "ruby": "rb rake gemspec", "perl": "pl pm t", "php": "php",
    "lua": "lua", "go": "go", "rust": "rs", "gcc": "c h cc cpp cxx hpp", "java": "java", "kotlin": "kt kts gradle",
    "nim": "nim nims", "zig": "zig", "csharp": "cs csx", "ocaml": "ml", "scala": "scala sc sbt", "swift": "swift",
    "haskell": "hs", "elixir": "ex exs", "julia": "jl", "sh": "sh bash zsh envrc",
}  # fmt: skip
_BY_NAME = {
    "rakefile": "ruby", "gemfile": "ruby", "guardfile": "ruby", "thorfile": "ruby", "vagrantfile": "ruby", ".envrc": "sh",
}  # fmt: skip
_ENDINGS = {ending: language for language, endings in _BY_ENDING.items() for ending in endings.split()}


def language_of(name: str) -> str:
    """Give the language, as the scan of sources names it; empty for settings and anything else."""
    lowered = name.lower()
    return _BY_NAME.get(lowered) or _ENDINGS.get(lowered.rpartition(".")[2] if "." in lowered else "", "")
