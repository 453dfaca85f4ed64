"""Verify a log without decurion: `python outsider.py audit.jsonl`. Twenty lines, and no JSON needed for the chain."""

import hashlib
import pathlib
import re
import sys

prev, seq = "0" * 64, 0
for path in sys.argv[1:]:  # rotated parts first: audit.0001.jsonl audit.0002.jsonl … audit.jsonl
    for number, line in enumerate(pathlib.Path(path).open("rb"), 1):
        body, mark, tail = line.rstrip(b"\n").rpartition(b',"hash":"')
        if hashlib.sha256(body + b"}").hexdigest() != tail[:64].decode() or tail[64:] != b'"}' or not mark:
            sys.exit(f"{path} line {number}: edited")
        found = re.match(rb'\{"v":1,"seq":(\d+),', body), re.search(rb',"prev":"([0-9a-f]{64})"$', body)
        if not all(found) or int(found[0][1]) != seq + 1 or found[1][1].decode() != prev:
            sys.exit(f"{path} line {number}: does not follow record {seq}")
        prev, seq = tail[:64].decode(), seq + 1
print(f"{seq} records, newest hash {prev}")
