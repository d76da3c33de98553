#!/bin/sh
# same.sh KERNEL N: what N shards of 32 schedules find, merged, is what the whole finds.
set -eu
kernel=$1 n=$2
first check --quiet --schedules 32 --format json:whole --kernel "$kernel" 2>log || [ $? = 1 ]
rm -f shard.*
i=0
while [ "$i" -lt "$n" ]; do
  first check --quiet --schedules 32 --shard "$i/$n" --format "json:shard.$i" --kernel "$kernel" 2>log || [ $? -le 1 ]
  i=$((i + 1))
done
muster merge --format json:merged shard.* || [ $? = 1 ]
python3 - <<'END'
import json

def findings(name):
    report = json.load(open(name))
    return sorted(json.dumps([f["rule"], f["severity"], f["kernel"], f["message"],
                              [[a["kind"], a["block"], a["thread"], a["line"]] for a in f["accesses"]]])
                  for f in report["findings"]), report["schedules"]["run"]

whole, _ = findings("whole")
merged, run = findings("merged")
print(len(whole), "findings,", "the same" if whole == merged else f"and merged: {merged}, not {whole}")
END
