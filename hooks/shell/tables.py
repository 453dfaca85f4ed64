"""Which programs are known, and as what. Names only; the knowledge stands in `builtins`, `wrappers`, `carriers`."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _words("sh bash dash zsh ksh ash mksh rbash fish csh tcsh yash posh busybox toybox eval source .")

SILENT = _words(
    "true false : cd export test [ mkdir touch rm chmod chown chgrp ln cp mv rmdir sleep wait unset set shift alias"
    " unalias trap exit return break continue readonly local declare typeset kill sync truncate mkfifo ulimit umask"
    " shopt hash let getopts disown bg fg exec read mapfile readarray install link unlink shred ."
    " enable builtin source eval git-add"
)
"""Programs that print nothing worth knowing."""

DATA = _words(
    "echo printf cat tac grep egrep fgrep rg ag ack zgrep head tail wc sort uniq cut tr comm join paste column fold fmt"
    " nl od hexdump xxd strings file stat ls dir vdir du df basename dirname realpath readlink which whereis type whatis"
    " apropos man info help tldr jq yq xq tomlq csvcut diff sdiff cmp colordiff patch md5sum sha1sum sha256sum sha512sum"
    " b2sum cksum date cal id whoami groups who w last lastlog users uptime uname hostname pwd tty stty clear reset"
    " test [ expr seq factor bc dc true false : yes sleep touch mkdir rmdir cp mv ln install truncate mktemp mkfifo"
    " gzip gunzip bzip2 xz zstd lz4 zcat unzip less more most bat delta pg_dump mysqldump createdb pg_restore"
    " pip pip2 pip3 pipx apt apt-get apt-cache aptitude dpkg brew dnf yum pacman apk snap flatpak zypper port gem"
    " npm pnpm yarn cargo rustc rustup go poetry hatch flit twine conda mamba composer bundle mvn gradle gradlew ant sbt"
    " rake just task tox nox invoke inv cmake ninja meson bazel buck tsc eslint prettier jest vitest mocha pytest"
    " unittest ruff black isort mypy pyright flake8 pylint bandit shellcheck shfmt hadolint tflint yamllint markdownlint"
    " terraform terragrunt tofu pulumi cdk cdktf aws az gcloud gsutil helm helmfile kustomize gh glab hub fly flyctl"
    " heroku vercel netlify firebase wrangler psql mysql mariadb sqlite3 mongosh mongo redis-cli cqlsh duckdb clickhouse"
    " systemctl journalctl service loginctl timedatectl hostnamectl lsblk lsof ss netstat ip ifconfig ping dig host"
    " nslookup traceroute whois curl wget http https xh telnet ftp sftp scp ssh-keygen ssh-add ssh-keyscan gpg"
    " openssl base64 base32 uuencode kill pkill killall pgrep pidof ps top htop jobs fg bg wait crontab"
    " iptables ip6tables nft ufw firewall-cmd mount umount fdisk sfdisk parted mkfs dd wipefs shred blkdiscard swapoff"
    " rm unlink chmod chown chgrp setfacl getfacl setcap chattr alias unalias set unset export umask ulimit shopt history"
    " git hg svn jj fossil tokei cloc tree exa eza lsd locate code subl open xdg-open say notify-send logger wall"
    " write mail mutt sendmail zip tar cpio ar 7z rar sed pandoc asciidoctor latex pdflatex convert ffmpeg"
    " docker-compose skopeo crane dropdb dropuser mysqladmin halt poweroff reboot shutdown init telinit rustfmt gofmt"
    " cowsay cowthink figlet toilet lolcat boxes banner clippy clang-format asdf mise nvm pyenv rbenv systemd-analyze getent useradd userdel usermod groupadd"
    " semgrep opengrep ast-grep ugrep comby passwd visudo dircolors tput stty look spell aspell wdiff hunspell ncdu split csplit shuf numfmt sum"
)
"""Programs that treat their arguments as data, so that a mention there is no call."""

NAMED_PROGRAMS = _words(
    "sort gsort split gsplit rg bat batcat delta ag ack gh journalctl systemctl mysql mariadb fzf sk skim nano yt-dlp"
    " youtube-dl dpkg dpkg-reconfigure tcpdump aria2c apt apt-get aptitude apt-cache java logrotate"
)
"""Programs some of whose options name another one (`carriers.named_programs`)."""

LOADERS = _words(
    "amm ansible-playbook ant astro ava babel bundle cabal cargo chef-client cmake commitlint csi ctest"
    " circusd cucumber cypress direnv docker docker-compose dotnet dune elixir esbuild eslint fab foreman forever gdb git"
    " go gradle gradlew grunt guard gulp hatch hivemind honcho inv invoke java jest karma kotlin lefthook"
    " lint-staged lldb make meson mix mocha mvn mvnw naught next nim ninja nodemon nox nuxt nx ocaml overmind packer"
    " parcel pdm pest phpunit pip pip3 playwright pm2 podman podman-compose poe poetry postcss pre-commit"
    " prettier puppet py.test pytest python-build rake release-it rollup rspec rustc salt-call sbt scala"
    " scala-cli scp semantic-release sftp skaffold sqlite3 ssh stack storybook stylelint supervisord"
    " tailwindcss tap task taskipy terraform thor tilt tmux tofu tox tsup turbo unittest uv vagrant vite vitest webpack"
    " zig"
)
"""Tools that load files by themselves (`carriers.loaded_files`)."""

TOOL_VARIABLES = {
    "PYTHON": "python", "PYTHON3": "python3", "PY": "python", "PYTHON_BIN": "python", "PIP": "pip", "NODE": "node",
    "NPM": "npm", "NPX": "npx", "YARN": "yarn", "PNPM": "pnpm", "CC": "cc", "CXX": "c++", "CPP": "cpp", "LD": "ld",
    "AR": "ar", "AS": "as", "NM": "nm", "RANLIB": "ranlib", "STRIP": "strip", "OBJCOPY": "objcopy", "OBJDUMP": "objdump",
    "MAKE": "make", "CMAKE": "cmake", "NINJA": "ninja", "GO": "go", "CARGO": "cargo", "RUSTC": "rustc", "JAVA": "java",
    "JAVAC": "javac", "MVN": "mvn", "GRADLE": "gradle", "RUBY": "ruby", "GEM": "gem", "BUNDLE": "bundle", "PHP": "php",
    "PERL": "perl", "LUA": "lua", "EDITOR": "editor", "VISUAL": "editor", "PAGER": "pager", "BROWSER": "browser",
    "GIT": "git", "DOCKER": "docker", "KUBECTL": "kubectl", "TERRAFORM": "terraform", "HELM": "helm", "SHELL": "bash",
    "PYTEST": "pytest", "TSC": "tsc", "ESLINT": "eslint", "GCC": "gcc", "CLANG": "clang", "FC": "gfortran",
    "PKG_CONFIG": "pkg-config", "SED": "sed", "AWK": "awk", "GREP": "grep", "INSTALL": "install", "TAR": "tar",
    "CURL": "curl", "RM": "rm", "SUDO": "sudo", "DOCKER_COMPOSE": "docker-compose", "COMPOSE": "docker-compose",
    "UV": "uv", "POETRY": "poetry", "JQ": "jq", "RUSTFMT": "rustfmt", "GOFMT": "gofmt", "PSQL": "psql", "SSH": "ssh",
}  # fmt: skip
"""Variables that by custom name one tool, and that tool."""

_BUILTINS = {
    "cd": "folders:change", "chdir": "folders:change", "pushd": "folders:push", "popd": "folders:pop", "pwd": "folders:where",
    "eval": "builtins:eval_", "exec": "builtins:exec_", "command": "builtins:command", "builtin": "builtins:command",
    "set": "builtins:set_", "shift": "builtins:shift", "unset": "builtins:unset", "alias": "builtins:alias",
    "unalias": "builtins:unalias", "trap": "builtins:trap", "hash": "builtins:hash_", "exit": "builtins:leave",
    "return": "builtins:leave", "break": "builtins:leave", "continue": "builtins:leave", "shopt": "builtins:shopt",
    "enable": "builtins:enable", "let": "builtins:let", "test": "builtins:test", "[": "builtins:test",
    "compgen": "builtins:compgen", "complete": "builtins:compgen", "bind": "builtins:bind", "fc": "builtins:none",
    "read": "reading:read", "mapfile": "reading:mapfile", "readarray": "reading:mapfile", "getopts": "reading:getopts",
    "printf": "outputs:printf", "source": "carriers.shells:source", ".": "carriers.shells:source",
    "declare": "builtins:declare", "export": "builtins:declare", "local": "builtins:declare",
    "readonly": "builtins:declare", "typeset": "builtins:declare", "true": "builtins:true", "false": "builtins:false",
    ":": "builtins:true", "type": "builtins:locate", "which": "builtins:locate", "ulimit": "builtins:none",
}  # fmt: skip
_OUTPUTS = dict.fromkeys(
    _words(
        "echo cat tee ls rev tr base64 base32 xxd openssl gunzip zcat gzip head tail cut sort uniq tac seq basename dirname"
        " realpath readlink mktemp date whoami printenv yes nl fold expr hostname paste "
    ),
    "outputs:run",
)
_FILES = dict.fromkeys(
    _words(
        "cp mv ln install link mkdir mkfifo sponge touch dd rm unlink curl wget aria2c axel http https xh wget2 curlie lftp aws gsutil tftp"
    ),
    "files:run",
)
_WRAPPERS = dict.fromkeys(
    _words(
        "nice ionice nohup setsid timeout gtimeout time gtime stdbuf unbuffer chrt taskset flock strace ltrace unshare"
        " setpriv systemd-run systemd-inhibit xvfb-run doas sudo pkexec setarch linux32 linux64 i386"
        " x86_64 numactl prlimit cpulimit firejail bwrap proot fakeroot faketime dbus-run-session dbus-launch torsocks"
        " torify proxychains proxychains4 nsenter valgrind perf rlwrap cgexec catchsegv chronic softlimit setuidgid"
        " chpst envdir envuidgid gosu su-exec s6-setuidgid tini dumb-init catatonit with-contenv aws-vault op doppler"
        " dotenv direnv infisical sem ifne entr nodemon retry rr ccache distcc sccache eatmydata"
        " choom uclampset capsh runcon sg coreutils timelimit stdbuf trickle nq tsp"
        " caffeinate reattach-to-user-namespace arch chruby-exec pipenv rye pdm "
        " bundle foreman honcho sandbox-exec pyenv rbenv nodenv asdf mise env-cmd dotenvx cross-env"
        " winpty wine watchexec reflex onchange hyperfine multitime"
    ),
    "wrappers:run",
)
_CARRIERS = {
    **dict.fromkeys(_words("sh bash dash zsh ksh ash mksh rbash fish csh tcsh yash posh"), "carriers.shells:shell"),
    **dict.fromkeys(_words("busybox toybox coreutils"), "carriers.shells:multicall"),
    "env": "wrappers:env", "chroot": "wrappers:chroot", "watch": "carriers.jobs:watch", "script": "carriers.jobs:script",
    "su": "carriers.jobs:su", "runuser": "carriers.jobs:su", "sg": "carriers.jobs:su", "ssh": "carriers.remote:ssh",
    "autossh": "carriers.remote:ssh", "mosh": "carriers.remote:ssh", "dbclient": "carriers.remote:ssh",
    "sshpass": "wrappers:run", "rsh": "carriers.remote:ssh", "rsync": "carriers.remote:rsync", "scp": "carriers.remote:scp",
    "sftp": "carriers.remote:scp", "at": "carriers.jobs:at", "batch": "carriers.jobs:at", "crontab": "carriers.jobs:crontab",
    "tmux": "carriers.jobs:tmux", "screen": "carriers.jobs:screen", "gdb": "carriers.jobs:gdb", "socat": "carriers.remote:socat",
    "nc": "carriers.remote:netcat", "ncat": "carriers.remote:netcat", "netcat": "carriers.remote:netcat",
    "xargs": "carriers.items:xargs", "find": "carriers.finders:find", "gfind": "carriers.finders:find",
    "parallel": "carriers.items:parallel", "fd": "carriers.finders:fd", "fdfind": "carriers.finders:fd",
    "rush": "carriers.items:parallel", "gxargs": "carriers.items:xargs", "bfs": "carriers.finders:find",
    "rg": "carriers.finders:rg", "git": "carriers.git:git", "hub": "carriers.git:git", "gh": "carriers.git:gh",
    **dict.fromkeys(_words("python python3 pypy pypy3 ipython bpython"), "carriers.python:python"),
    **dict.fromkeys(_words("perl ruby node nodejs deno bun php lua luajit Rscript R julia osascript octave matlab raku"
                           " jruby guile sbcl swift groovy ghc jshell clojure clj bb elixir erl ghci scala irb ts-node tsx zx racket jrunscript rhino jjs qjs gjs d8 tjs llrt"), "carriers.scripts:run"),
    **dict.fromkeys(_words("awk gawk mawk nawk"), "carriers.editors:awk"), "sed": "carriers.editors:sed",
    "gsed": "carriers.editors:sed",
    **dict.fromkeys(_words("vim vi nvim ex view gvim rvim vimdiff"), "carriers.editors:vim"),
    **dict.fromkeys(_words("ed red"), "carriers.editors:ed"), **dict.fromkeys(_words("emacs emacsclient"), "carriers.editors:emacs"),
    **dict.fromkeys(_words("make gmake gnumake bmake"), "carriers.builds:make"),
    **dict.fromkeys(_words("npm pnpm yarn npx bunx pnpx"), "carriers.packages:npm"),
    **dict.fromkeys(_words("poetry pipenv uv uvx rye pdm hatch bundle composer pipx conda mamba cargo tox pixi devbox rtx volta"), "carriers.packages:runner"),
    **dict.fromkeys(_words("docker podman nerdctl docker-compose podman-compose kubectl oc k3s lxc minikube vagrant"
                           " buildah distrobox toolbox systemd-nspawn lxc-attach crictl"), "carriers.containers:run"),
    "tar": "carriers.archives:tar", "gtar": "carriers.archives:tar", "bsdtar": "carriers.archives:tar",
    "zip": "carriers.archives:zip_", "cpio": "carriers.archives:cpio", "pax": "carriers.archives:cpio",
    **dict.fromkeys(_words("unzip 7z 7za 7zr unrar jar unar"), "carriers.archives:unzip"),
    **dict.fromkeys(_words("dc m4 expect tclsh wish tex latex pdflatex xelatex lualatex pdftex luatex latexmk"), "carriers.others:run"),
    **dict.fromkeys(_words("ansible salt salt-call"), "carriers.others:ansible"),
    **dict.fromkeys(_words("hg chg sl"), "carriers.others:mercurial"),
    **dict.fromkeys(_words("heroku railway kamal hcloud render dokku scalingo clever platform terminus gcloud fly flyctl eb cf az doctl"
                           " ibmcloud copilot aws"), "carriers.cloud:run"),
    **dict.fromkeys(_words("just task mask"), "carriers.recipes:run"), "manage.py": "carriers.frameworks:django",
    "rails": "carriers.frameworks:rails", "concurrently": "carriers.frameworks:each", "pueue": "carriers.frameworks:each",
    **dict.fromkeys(_words("go gcc g++ cc c++ clang clang++ tcc rustc javac java zig crystal nim dart kotlinc kotlin dotnet rust-script"
                           " cargo-script odin runghc runhaskell ocaml vlang dmd ldc2"), "carriers.compiled:build"),
    **dict.fromkeys(_words("pytest py.test"), "carriers.compiled:test"),
    **dict.fromkeys(_words("pwsh powershell powershell.exe"), "carriers.powershell:run"), "microk8s": "carriers.containers:run",
    **dict.fromkeys(_words("terraform tofu terragrunt"), "carriers.plans:run"), "byobu": "carriers.jobs:tmux",
    **dict.fromkeys(_words("pssh parallel-ssh pdsh clush fab plink dsh mpssh"), "carriers.remote:crowd"), "cmake": "carriers.builds:cmake",
    "sqlite3": "carriers.databases:sqlite", "psql": "carriers.databases:psql", "mysql": "carriers.databases:mysql",
    "mariadb": "carriers.databases:mysql", "ftp": "carriers.remote:scp", "lftp": "carriers.remote:scp", "tftp": "carriers.remote:scp", "smbclient": "carriers.remote:scp", "ncftp": "carriers.remote:scp", "gnuplot": "carriers.databases:bang", "newgrp": "wrappers:run",
    **dict.fromkeys(_words("mongosh mongo redis-cli valkey-cli cockroach clickhouse-client duckdb cqlsh usql pgcli mycli sqlcmd"), "carriers.databases:fed"),
    "less": "carriers.databases:less", "man": "carriers.databases:man", "bc": "carriers.databases:none",
}  # fmt: skip
HANDLERS: dict[str, str] = {**_OUTPUTS, **_FILES, **_WRAPPERS, **_CARRIERS, **_BUILTINS}
"""Program or builtin to `module:function` inside this package."""
