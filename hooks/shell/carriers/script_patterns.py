"""What perl, ruby, node, php, lua and others call the things that reach the system."""

from __future__ import annotations

import re

SHELL = re.compile(
    r"(?<![\w$>/])(?:Sys\.command|Unix\.system|exec\.Command(?:Context)?|(?:syscall|unix)\.Exec|system\*|require\(['\"]cross-spawn['\"]\)(?:\.sync)?|system|exec|popen|popen2|popen3|capture2e?|capture3|spawn|spawnSync|exec(?:File)?(?:Sync)?|execFile"
    r"|shell_exec|passthru|proc_open|pcntl_exec|os\.execute|io\.popen|Kernel\.(?:system|exec|spawn)|Process\.(?:spawn|exec)"
    r"|IO\.popen|PTY\.spawn|Open3\.\w+|qx|run|shell|do shell script|System\.cmd|os:cmd|:os\.cmd|Deno\.Command|Deno\.run|Bun\.spawn\w*"
    r"|Command::new|getRuntime\(\)\.exec|ProcessBuilder|Process\.Start|callCommand|callProcess|readProcess|readCreateProcess|rawSystem|run-shell-command|run-program"
    r"|execvp|execlp|commandLine|syscall|sh|execa|execaSync|zx|run_command|rawToChar|system2|pipeline)(?![\w])"
)
"""Names of calls that hand their arguments to a shell or start a program, in any of the languages."""
LOOSE = frozenset({"run", "shell", "sh", "spawn", "exec", "pipeline", "syscall"})
"""Names so common that they count only where a literal argument follows in parentheses."""
DELETE_TREE = re.compile(
    r"(?<![\w])(?:FileUtils\.(?:rm_rf?|rmtree|remove_dir|remove_entry(?:_secure)?|remove)|rm_rf|rmtree|remove_tree|rmSync|rmdirSync"
    r"|removeSync|rimrafSync|rimraf|(?:fs|fs(?:/promises|-extra)?['\"]\))\.(?:promises\.)?(?:rm|rmdir|remove)|fsp\.(?:rm|rmdir)|promises\.(?:rm|rmdir)|Deno\.remove(?:Sync)?"
    r"|require\(['\"](?:rimraf|del|trash)['\"]\)(?:\.\w+)?|(?:shelljs['\"]\)|\bshell|\bshelljs)\.rm|delete-directory/files|rm(?=\([^)]*\brecursive\s*[:=]\s*true)|removeItem|os\.RemoveAll|remove_dir_all|FileUtils\.deleteDirectory|deleteRecursively|Directory\.Delete|Directory(?=\([^)]*\)\.delete)|filesystem::remove_all|delete-directory-tree|delete-tree|removeDir|deleteTree(?:Absolute)?|AntBuilder\(\)\.delete|removeDirectoryRecursive|removePathForcibly"
    r"|del\.sync|delete_tree|emptyDirSync|unlinkRecursive|deltree|File\.rm_rf!?|trash)(?![\w])"
)
DELETE = re.compile(
    r"(?<![\w])(?:unlink(?:Sync)?|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete|unlink)|FileUtils\.(?:rm|rm_f)|os\.[rR]emove|remove_file|File::delete|toFile\(\)\.delete|Files\.delete(?:IfExists)?|rmdir|file\.remove|delete-file|removeFile)(?![\w])"
)
WRITE = re.compile(
    r"(?<![\w])(?:(?:write|append)File(?:Sync)?|createWriteStream|(?:write|append)_(?:file|text)|io\.output|spew|spurt|file_put_contents|File\.(?:write|binwrite|truncate)|IO\.write|f?truncate(?:Sync)?|os\.(?:WriteFile|Create)|ioutil\.WriteFile|fs::write|File::create|Files\.(?:write\w*|newBufferedWriter|newOutputStream)|Deno\.write\w+|Bun\.write)(?![\w])"
)
READ = re.compile(
    r"(?<![\w])(?:read(?:File)?Sync|readFile|createReadStream|file_get_contents|readfile|File\.(?:read|readlines|binread|open)|(?:IO|File)\.(?:read\w*|binread|foreach|each_line)"
    r"|io\.(?:open|lines|input)|read_(?:file|text)|IO::File->new|fopen|openSync|slurp|readLines|Deno\.readTextFile(?:Sync)?|file)(?![\w])"
)
PERL_OPEN = re.compile(r"(?<![\w.])open\s*\(?\s*(?:my\s+)?[\w$*{}]+\s*,\s*")
OTHER = re.compile(
    r"(?<![\w])(?:chmodSync|chownSync|chmod|chown|File\.chmod|FileUtils\.chmod_R|FileUtils\.chown_R|lchown)(?![\w])"
)
RENAME = re.compile(
    r"(?<![\w])(?:(?:os|File|fs|fsp|promises)\.rename(?:Sync)?|(?<=\)\.)rename(?:Sync)?|rename|moveSync|copyFile(?:Sync)?|copy(?=\s*\()|FileUtils\.(?:mv|move|cp\w*))(?![\w])"
)
LINK = re.compile(
    r"(?<![\w])(?:symlink(?:Sync)?|(?:make|create)_?symlink|FileUtils\.(?:ln_sf?|symlink)|Deno\.symlink(?:Sync)?|Symlink)(?![\w])"
)
IDENTITY = re.compile(
    r"(?:(?<![\w.$>])(?=set\w*uid\(\s*0)|\bprocess\.|POSIX::|posix_|Process::(?:Sys|UID|GID|EUID)\.|\bPosix\.|\bsyscall\.|\bunix\.)"
    r"(?:set(?:e|re|res)?[ugUG]id|Set(?:e|re|res)?[ug]id|change_privilege|grant_privilege|eid=|setgroups)\(?\s*\(?\s*0\b|\$[<>]\s*=\s*0\b"
)
"""Calls by which a process becomes root."""
EACH_OF = re.compile(
    r"\bfor\s*\(\s*(?:const|let|var)\s+(\w+)\s+of\s+\[([^\[\]]*)\]|\bfor(?:each)?\s+(?:my\s+)?\$(\w+)\s*\(([^()]*)\)"
    r"|\[([^\[\]]*)\]\.(?:forEach|map|each)\s*(?:\(|do\b|\{)\s*(?:async\s*)?[(|]*\s*(\w+)|%w[\[(]([^\])]*)[\])]\.each\s*(?:do|\{)\s*\|(\w+)\|"
)
"""A name that stands for each of a list of literals."""
EACH_NAMED = re.compile(
    r"\bfor\s*\(\s*(?:const|let|var)\s+(\w+)\s+of\s+(\w+)\s*\)|\bfor(?:each)?\s+(?:my\s+)?\$(\w+)\s*\(\s*@(\w+)\s*\)"
    r"|\bfor\s+(\w+)\s+in\s+(\w+)\b|(?P<list>\b\w+)\.(?:forEach|map|each)\s*(?:\(|do\b|\{)\s*(?:async\s*)?[(|]*\s*(?P<name>\w+)"
)
"""A name that stands for each of a list that has a name."""
WALK = re.compile(
    r"\bFile::Find\b|\bFind\.find\b|\bfind\s*\(\s*(?:\{|sub\b|\\&)|\bfinddepth\s*\(|filepath\.Walk\w*|\bfs\.WalkDir|WalkDir::new|(?:Directory|Filesystem|Glob)Iterator|\bwalkdir\b"
    r"|Files\.(?:walk\w*|list)|\breaddir(?:Sync)?\b|\bopendir\b|\bscandir\b|\bDir\.(?:each\w*|children|entries|glob)\b|\bDirectory\.(?:Get|Enumerate)\w+|\blfs\.dir\b|\bdirectory_iterator\b|\bnftw\s*\("
)
"""Calls that go through a whole tree."""
OWN_FILES = re.compile(
    r"(?:\b(?:do|require|require_relative|require_once|include|include_once|load|dofile|import|from)\b)\s*\(?\s*(['\"])(\.{0,2}/?[\w./-]+)\1"
)
"""Files of its own that a source text loads."""
RUST_JOIN = re.compile(r"Path(?:Buf)?::(?:new|from)\(\s*\"([^\"]*)\"\s*\)\s*\.join\(\s*\"([^\"]*)\"\s*\)")
ANGLES = re.compile(r"<((?:~?/|\$ENV\{|(?=[\w./]*\*))[^<>\n]*)>")
"""Perl's `<~/x/*>`, which lists files."""
KILL = re.compile(r"(?<![\w])(?:Process\.kill|process\.kill|posix_kill|kill)(?![\w])")
NETWORK = re.compile(
    r"(?<![\w])(?:https?(?:['\"]\))?\.(?:request|get)|HTTP::Tiny|LWP::UserAgent|Net::FTP|Faraday|RestClient|HTTParty|WWW::Mechanize|import\(\s*['\"]https?:/|fetch|Net::HTTP\.\w+|URI\.open|LWP::Simple\S*|curl_init|TCPSocket\.new|fsockopen"
    r"|file_get_contents\(\s*['\"]https?:/|include\s*\(?\s*['\"]https?:/|socket(?:['\"]\))?\.(?:connect|tcp|udp)|net(?:['\"]\))?\.(?:connect|createConnection)|IO::Socket::INET->new|axios(?:['\"]\))?\.\w+|got\.\w+|dns(?:['\"]\))?\.(?:lookup|resolve\w*)|require\(['\"](?:axios|got|node-fetch|superagent|undici|needle)['\"]\))(?![\w])"
)
BACKTICKS = re.compile(r"`([^`]*)`")
QUOTED_RUN = re.compile(r"(?:qx|%x)\s*(?:\((.*?)\)|\{(.*?)\}|\[(.*?)\]|<(.*?)>|([/|!#])(.*?)\5)", re.DOTALL)
RENAMED = re.compile(r"\b(\w+)\s*(?::|\bas\b)\s*(\w+)(?=[^}()]*\}\s*(?:=|from\b))")
EVAL = re.compile(
    r"(?<![\w.])(?:(?:Kernel|binding|TOPLEVEL_BINDING|globalThis|global|window|self)\.)?(?:eval|instance_eval|class_eval|module_eval|loadstring|load|assert"
    r"|create_function|Function|vm(?:['\"]\))?\.runIn\w+|runInNewContext|source)\s*\(?"
)
DECODERS = re.compile(
    r"atob|base64|Base64|b64|unpack|pack\s*\(|pack1|fromCharCode|from\s*\(|hex2bin|gzinflate|str_rot13|decode|chr\s*\(|tr/|reverse"
)
FETCHED = re.compile(
    r"curl|wget|https?://|URI\.open|open-uri|LWP|IO::Socket|fsockopen|TCPSocket|socket['\"]\)\.|file_get_contents\(['\"]http|Net::HTTP|fetch\s*\("
)
ASSIGN = re.compile(
    r"(?:\b(?:const|let|var|my|local|our)\s+)?[$@]?([A-Za-z_]\w*)\s*(?::=|=)(?![=~>])\s*\(?\s*(?=['\"`]|q[qw]?\b)"
)
STRING = r"'(?:[^'\\]|\\[\s\S])*'|\"(?:[^\"\\]|\\[\s\S])*\"|`(?:[^`\\]|\\[\s\S])*`"
SENT_VARIABLE = re.compile(
    r"\b(?:fetch|get|post|put|request|lookup|resolve\w*|open)\(\s*(?:[\w.]+\(\s*)?[^,{)]*?(?:process\.env\.|ENV\[['\"]|\$ENV\{['\"]?|getenv\(['\"])(\w+)"
)
"""A variable of the environment in the address that a request is sent to."""
WORDS = re.compile(rf"[@$]?\b([A-Za-z_]\w*)\s*=\s*[(\[]\s*((?:{STRING})(?:\s*,\s*(?:{STRING}))+)\s*[)\]]")
"""A list of literals that has a name."""
JOINED = re.compile(r"(['\"])\s*(?:\+|\.\.?|<>)\s*(['\"])")
INDEXED = re.compile(r"(?<=[\w)\]])\[\s*(['\"])([A-Za-z_]\w*)\1\s*\]")
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4})\}?|([0-7]{3})|([\s\S]))")


BETWEEN = re.compile(
    r"[\s,(]*\[\]string\{|c\((?=['\"])|[\s(\[,{&*]+|~[csS](?=['\"])|\)\s*\.args?\s*\(\s*&?\[?|(?:args|cmd|file|command|atPath|at|path|of|dir)\s*:|#[pP](?=['\"])|\}\s*(?=['\"])|=>|(?:glob|Dir(?:\.glob)?)\b|split\s*\(\s*/[^/]*/\s*,"
)
LISTS = re.compile(
    r"(?:q[qwx]?|%[wWqQi]?)\s*(?:\(([^()]*)\)|\{([^{}]*)\}|\[([^\[\]]*)\]|<([^<>]*)>|([/|!#])((?:(?!\5).)*)\5)",
    re.DOTALL,
)
CALLED = re.compile(
    r"\b(?:array_map|array_walk|call_user_func(?:_array)?|send|public_send|__send__)\(\s*(?:(['\"])(\w+)\1|:(\w+))\s*,\s*"
)
NAMED = re.compile(r"[$@*]?[\w.>\[\]'\"-]+")
HOMES = re.compile(
    r"(?<![\w.])homedir\(\)|(?:require\(['\"]os['\"]\)|\b\w+)\.homedir\(\)|process\.env\.HOME|\bENV(?:\.fetch\(|\[)\s*['\"]HOME['\"]\s*[\])]|\$ENV\{['\"]?HOME['\"]?\}"
    r"|\bDir\.home\b|\b(?:os\.)?getenv\(\s*['\"]HOME['\"]\s*\)|\$_(?:SERVER|ENV)\[['\"]HOME['\"]\]|Deno\.env\.get\(['\"]HOME['\"]\)"
)
EXPANDED = re.compile(
    r"(?<![\w.])(?:join|resolve)(?=\(\s*['\"](?:/|~))\(\s*(?=['\"`])|(?:filepath|path)\.Join\(\s*(?=['\"`])|Paths?\.(?:get|of)\(\s*(?=['\"`])|(?:File\.expand_path|Pathname\.new|(?:require\(['\"](?:node:)?path['\"]\)|path)\.(?:join|resolve|normalize)|\w+\.join(?=\(\s*['\"](?:/|~))|File\.join|String)\(\s*(?=['\"`])"
    r"|\bpath\.(?:join|resolve)\(\s*(?=[A-Za-z_$])"
)
POSTFIX_RUN = re.compile(rf"({STRING})\s*\.\s*(?:execute\(|!)")
"""Groovy's `"cmd".execute()` and Scala's `"cmd".!`: the literal stands first."""
POSTFIX_DELETE = re.compile(
    rf"(?:\bFile|\bPath|\bPathname)?\(\s*({STRING})\s*\)\s*\.\s*(?:deleteDir|deleteRecursively|rmtree|delete_tree|rmrf)\b"
)
EACH_DELETE = re.compile(
    rf"(?:\bDir\.glob|\bDir\[|\bglob|\bglobSync|\breaddirSync|\bDir\.children|\bDir\.entries)\s*\(?\s*({STRING})[^;\n]*?"
    r"(?:File\.(?:delete|unlink)|FileUtils\.(?:rm|remove)\w*|\bunlink(?:Sync)?\b|\brmSync\b)"
)
"""What a listing finds is deleted one by one."""
WHOLE_ENVIRONMENT = re.compile(
    r"process\.env\b(?!\s*[.\[])|\bENV\b(?=\s*(?:\.(?:to_h|each|inspect|map|to_a|sort)|\)|$))|%ENV\b|\$_ENV\b(?!\[)|\bgetenv\(\s*\)|\bos\.environ\b"
)
FETCHED_RUN = re.compile(
    r"(?<![\w.])(?:eval|Function|runIn\w+|instance_eval|load|loadstring)\s*\(|[(,]\s*eval\s*\)|\bimport\(\s*['\"]https?:"
    r"|\b(?:include|require)(?:_once)?\s*\(?\s*['\"]https?:"
)
PIECES: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("perl", "php"), re.compile(r"\$\{?\w+\}?(?:\[[^\]]*\]|\{[^}]*\})?|@\w+|\{\$[^}]*\}")),
    **dict.fromkeys(("ruby", "elixir", "crystal"), re.compile(r"#\{[^}]*\}")),
    **dict.fromkeys(("julia", "groovy", "scala", "kotlin"), re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+")),
}
"""What stands for something else inside a double-quoted literal."""
FUNCTION = re.compile(
    r"\bfunction\s+(\w+)\s*\(([\w\s,]*)\)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\s*)?\(?([\w\s,]*)\)?\s*(?:=>|\{)"
    r"|\bdef\s+(\w+)\s*\(?([\w\s,]*)\)?"
)
"""A function with its parameters, in JavaScript and Ruby."""
HELD = re.compile(
    r"(?:\b\w+\.)?\b(?:public_)?(?:instance_)?method\(\s*:(\w+)\s*\)\s*(?:\.call|\.\(|===|\.unbind\.bind_call)?\s*(?=[\s('\"%])"
)
"""Ruby's `method(:system).call(…)`."""
SENT = re.compile(r"\b(?:public_|__)?send(?:__)?\(\s*:`\s*,\s*")
"""Ruby's backticks called by name."""
PUT_TOGETHER = re.compile(
    r"\(\s*(?:\$\w+|'[^']*'|\"[^\"]*\")(?:\s*\.\s*(?:\$\w+|'[^']*'|\"[^\"]*\"))+\s*\)\s*\("
)
"""PHP's call of a function whose name is put together."""
MADE = re.compile(r"\s*\.\s*(?!strip|chomp|freeze|trim|to_s|toString|dup|squish)[a-z]\w*")
"""A method behind a literal that makes another text of it."""
TEMPLATE = re.compile(r"\$\{[^}]*\}")
DECODED = re.compile(
    r"\bunpack1?\b|\bpack\s*\(|\batob\b|\bBuffer\.from\b|\bfromCharCode\b|\breverse\b|\.tr\b|\bdecode\w*\b|\bhex2bin\b|\bstr_rot13\b|\bstrrev\b|base64|\bchr\b|\.(?:swapcase|succ|next|rotate|hex)\b"
)
"""What makes a text another one before it is handed on."""
CHDIR = re.compile(
    r"(?<![\w])(?:process\.chdir|Dir\.chdir|Deno\.chdir|chdir|lfs\.chdir|os\.Chdir|set_current_dir|setwd)(?![\w])"
)
PLUS = re.compile(r"\s*(?:\+|<>|\+\+)\s*(?=[\w$'\"`@])")
JOIN = {
    **dict.fromkeys(("perl", "php"), re.compile(r"\s*\.\s*(?=[\w$'\"@])")),
    **dict.fromkeys(("lua", "luajit"), re.compile(r"\s*\.\.\s*(?=[\w'\"])")),
    "julia": re.compile(r"\s*\*\s*(?=[\w'\"])"),
}
"""What joins texts, by language."""
