#!/bin/sh
# unit.sh MUSTER FILE.ptx...: one small kernel a file, `k`, under muster check. Its first lines say
#   // expect: SEVERITY RULE, ...   or   // expect: clean      all findings, each rule once
#   // options: OPTIONS             of muster check; without --arg the kernel gets 64 KiB of zeros, without --grid one block
set -u
muster=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
report="$folder/report"
mkdir "$folder/bin" # a ptxas that fails, so that registers are estimated everywhere
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/ptxas" && chmod +x "$folder/bin/ptxas"
export CUDA_PATH="$folder"
failed=0
for file; do
  want=$(sed -n 's|^// expect: *||p' "$file") options=$(sed -n 's|^// options: *||p' "$file")
  case $options in *--arg*) ;; *) options="$options --arg zero:65536" ;; esac
  case $options in *--grid*) ;; *) options="$options --grid 1" ;; esac
  [ "$want" = clean ] && want=''
  : >"$report"
  # shellcheck disable=SC2086 # words
  timeout "${CASE_SECONDS:-60}" "$muster" check --quiet --kernel k --format "json:$report" --format text $options "$file" 2>"$report.text"
  code=$?
  found=$(python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(", ".join(sorted({f["severity"] + " " + f["rule"] for f in report["findings"]}) + report["reasons"]))' "$report")
  case $want in *error* | *warning*) ends=1 ;; *) ends=0 ;; esac
  [ "$found" = "$want" ] && [ $code = $ends ] && continue
  echo "$file: ends with $code, should be $ends; found: $found; should be: $want"
  cat "$report.text"
  failed=$((failed + 1))
done
exit $((failed > 0))
