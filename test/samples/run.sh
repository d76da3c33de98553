#!/bin/sh
# run.sh [-c|-i] [-m MUSTER] [-o FOLDER] [-t SECONDS] SAMPLES [PATTERN]
# Compiles NVIDIA's cuda-samples of list.txt (SAMPLES: a copy of their repository) whole-program with nvcc and
# runs each, untouched, under `muster run` in the folder it came in. FOLDER (build/samples) gets bin/, log/ and
# samples.tsv: name, verdict, exit code, seconds, reason. The verdict is the sample's own: its exit code and its own words.
#   -c        compile only      -t   time limit of one sample, 120
#   -i        inspect: the same under `muster check`, into check.tsv: name, `clean` or the rules of what was found,
#             exit code, seconds, reason; the reports lie in log/
#   PATTERN   only the samples whose name matches (grep -E); their rows replace those in samples.tsv
# MUSTER may also be a command that runs a program on a GPU: -m env.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=mk/deps.sh disable=SC1091
. "$here/../../mk/deps.sh"
muster=$here/../../build/bin/muster out=build/samples seconds=120 compile_only='' inspect=''
usage() { sed -n '2s/^# /usage: /p' "$0" >&2; exit 2; }
while getopts cim:o:t: option; do
  case $option in
  c) compile_only=1 ;;
  i) inspect=1 ;;
  m) muster=$OPTARG ;;
  o) out=$OPTARG ;;
  t) seconds=$OPTARG ;;
  *) usage ;;
  esac
done
shift $((OPTIND - 1))
case $muster in /*) ;; */*) muster=$PWD/$muster ;; esac # each sample is run in its own folder
case $# in 1 | 2) ;; *) usage ;; esac
[ -f "$1/Common/helper_cuda.h" ] || die "$1 is no copy of cuda-samples (no Common/helper_cuda.h)"
samples=$(cd "$1" && pwd) pattern=${2:-.}
nvcc=$(find_nvcc)
[ -n "$nvcc" ] || die "no nvcc"
mkdir -p "$out/bin" "$out/log"
out=$(cd "$out" && pwd)
tab=$(printf '\t')

# The sources that the sample's own CMake file names.
sources_of() {
  sed 's/#.*//' "$1/CMakeLists.txt" | tr '\n' ' ' | sed -n 's/.*add_executable([ ]*[^ ]*[ ]*\([^)]*\)).*/\1/p'
}

# compile NAME SM RDC FLAGS: into bin/, unless it is there already.
compile() {
  base=${1##*/}
  [ ! -x "$out/bin/$base" ] || return 0
  flags="-gencode=arch=compute_$2,code=[compute_$2,sm_$2] $4"
  [ -z "$3" ] || flags="$flags -rdc=true -lcudadevrt"
  # shellcheck disable=SC2046,SC2086 # words
  (cd "$samples/Samples/$1" && "$nvcc" -std=c++17 -O2 -lineinfo --extended-lambda -Wno-deprecated-gpu-targets -w \
    -I"$samples/Common" -I. $flags $(sources_of .) -o "$out/bin/$base") >"$out/log/$base.compile" 2>&1
}

# Words by which samples announce success and failure, where list.txt has no says=.
success='PASS|Success|Test passed|Test success|Test Successful|returned OK|[Dd]one'
failure='FAIL|[Tt]est failed|[Cc]ompleted, returned ERROR'

# judge CODE EXPECTED SAYS LOG: sets verdict and reason.
judge() {
  reason=$(grep -a '^muster: ' "$4" | grep -aE 'not modelled|not provided|not supported' | head -1 | cut -c1-200 | tr '\t' ' ') || true
  [ -n "$reason" ] || reason=$(grep -a '^muster: ' "$4" | head -1 | cut -c1-200 | tr '\t' ' ') || true
  [ -n "$reason" ] || reason=$(grep -aE "$failure|[Ww]aiv|not support|error" "$4" | head -1 | cut -c1-160 | tr '\t' ' ') || true
  if [ "$1" = 124 ] || [ "$1" = 137 ]; then
    verdict=hangs
    ! grep -aq 'the time limit of' "$4" || verdict="too slow" reason="not done after $seconds s"
  elif [ "$1" -gt 128 ] && [ "$1" -ne "$2" ]; then
    verdict=crashes
    [ -n "$reason" ] || reason="signal $(($1 - 128))"
  elif [ "$1" = 2 ] && [ "$2" != 2 ]; then
    verdict=waived
  elif [ "$1" -ne "$2" ]; then
    verdict=fails
    [ -n "$reason" ] || reason=$(tail -1 "$4" | cut -c1-160 | tr '\t' ' ')
  elif [ -n "$3" ]; then
    if grep -aqE -e "$3" "$4"; then verdict=passes reason=; else verdict=fails reason="its message '$3' is missing"; fi
  elif grep -aqE "$failure" "$4"; then
    verdict=fails
  elif grep -aqE "$success" "$4"; then
    verdict=passes reason=
  else
    verdict=fails reason="ends with $1 and without a word of success"
  fi
}

# judge_check CODE LOG JSON: sets verdict and reason. An error or a warning has its rule as the verdict.
judge_check() {
  reason=$(grep -a '^muster: ' "$2" | head -1 | cut -c1-200 | tr '\t' ' ') || true
  rules=$(tr -d '\n' <"$3" | grep -oE '"rule": *"[^"]*", *"severity": *"(error|warning)' | cut -d'"' -f4 | sort -u | paste -sd' ') || true
  case $1 in
  0) verdict=clean reason= ;;
  124 | 137) verdict="not done" reason="not done after $seconds s" ;;
  3)
    verdict="not judged"
    ! grep -aq 'the time limit of' "$2" || verdict="not done"
    ! grep -aq 'nothing was launched' "$2" || verdict="nothing launched"
    ;;
  4) verdict="the sample fails" ;;
  *) verdict="ends with $1" ;;
  esac
  [ -z "$rules" ] || verdict=$rules
}

table=$out/samples.tsv
[ -z "$inspect" ] || table=$out/check.tsv
[ -f "$table" ] || : >"$table"
grep -v '^#' "$here/list.txt" | grep -E "$pattern" | while read -r name words; do
  sm=75 rdc='' flags='' arguments='' expect=0 says='' gpus=1
  for word in $words; do
    case $word in
    sm=*) sm=${word#sm=} ;;
    rdc) rdc=1 ;;
    flag=*) flags="$flags ${word#flag=}" ;;
    arg=*) arguments="$arguments ${word#arg=}" ;;
    gpus=*) gpus=${word#gpus=} ;;
    expect=*) expect=${word#expect=} ;;
    says=*) says=$(printf '%s' "${word#says=}" | tr _ ' ') ;;
    *) die "list.txt: $name: what is '$word'?" ;;
    esac
  done
  base=${name##*/} code=- took=- reason=
  if [ ! -d "$samples/Samples/$name" ]; then
    verdict=absent reason="not in this copy of cuda-samples"
  elif ! compile "$name" "$sm" "$rdc" "$flags"; then
    verdict="does not compile"
    reason=$(grep -iE 'error|undefined' "$out/log/$base.compile" | head -1 | cut -c1-200 | tr '\t' ' ')
  elif [ -n "$compile_only" ]; then
    say "compiled	$name"
    continue
  else
    log=$out/log/$base.run json=$out/log/$base.json
    : >"$json"
    start=$(date +%s%N)
    set -- "$out/bin/$base"
    if [ -n "$inspect" ]; then
      set -- "$muster" check --format text --format "json:$json" --time-limit "$seconds" --gpus "$gpus" -- "$@"
    else
      case $muster in *muster) set -- "$muster" run --time-limit "$seconds" --gpus "$gpus" -- "$@" ;; *) set -- "$muster" "$@" ;; esac
    fi
    code=0
    # shellcheck disable=SC2086
    (cd "$samples/Samples/$name" && timeout -k 5 $((seconds + 10)) "$@" $arguments) >"$log" 2>&1 </dev/null || code=$?
    took=$((($(date +%s%N) - start) / 10000000))
    took=$(printf '%d.%02d' $((took / 100)) $((took % 100)))
    if [ -n "$inspect" ]; then judge_check "$code" "$log" "$json"; else judge "$code" "$expect" "$says" "$log"; fi
  fi
  say "$verdict	$name	$code	$took	$reason"
  grep -v "^$name$tab" "$table" >"$table.new" || true
  printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$verdict" "$code" "$took" "$reason" >>"$table.new"
  LC_ALL=C sort -o "$table" "$table.new"
  rm -f "$table.new"
done
[ -n "$compile_only" ] || cut -f2 "$table" | sort | uniq -c
