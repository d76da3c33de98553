#!/usr/bin/env python3
"""damaged.py MUSTER REPORT [COUNT]: muster merge of reports that were damaged in every way, in every format: an error that
names the file, or a report, and nothing else."""
import random
import subprocess
import sys
import tempfile

muster, whole, count = sys.argv[1], open(sys.argv[2], "rb").read(), int(sys.argv[3]) if len(sys.argv) > 3 else 60
random.seed(1)
values = [b"null", b"-1", b"[]", b"{}", b'"x"', b"99999999999", b"1e5", b'"\\u0001"', b"true"]


def damaged():
    b = bytearray(whole)
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(b))
        what = random.randrange(4)
        if what == 0:
            b[at] = random.randrange(256)
        elif what == 1:
            del b[at : at + random.randint(1, 20)]
        else:  # another value behind a name, cut or put before what stood there
            at = b.find(b":", at) + 1
            b[at : at + (random.randint(1, 6) if what == 2 else 0)] = random.choice(values)
    return bytes(b)


with tempfile.NamedTemporaryFile(suffix=".json") as f:
    for n in range(count):
        f.seek(0)
        f.truncate()
        f.write(damaged())
        f.flush()
        for kind in ("text", "json", "sarif", "junit", "github", "suppressions"):
            p = subprocess.run([muster, "merge", "--format", kind, f.name], capture_output=True, timeout=20)
            if p.returncode not in (0, 1, 3, 4, 126) or (p.returncode == 126 and f.name.encode() not in p.stderr):
                sys.exit("report %d as %s: exit code %d\n%s" % (n, kind, p.returncode, p.stderr.decode(errors="replace")))
