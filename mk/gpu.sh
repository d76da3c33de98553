# gpu.sh: what the CPU device is held against, on a machine with a GPU. Sourced by ./dev.

# gpu_each FOLDER NAME COMMAND... -- FILE...: runs COMMAND FILE for each, with a time limit; the output of all goes to
# FOLDER/NAME.txt, the count is printed last.
gpu_each() {
  log=$1/$2.txt
  name=$2
  shift 2
  command=
  while [ "$1" != -- ]; do
    command="$command $1"
    shift
  done
  shift
  good=0
  bad=0
  : >"$log"
  for file; do
    # shellcheck disable=SC2086 # the command is words
    if timeout -k 5 30 $command "$file" >>"$log" 2>&1; then
      good=$((good + 1))
    else
      bad=$((bad + 1))
      say "WRONG on this GPU: $file ($log)"
    fi
  done
  say "$name: $good passed, $bad failed"
  [ $bad = 0 ]
}

# The cases of the machine, one a row of the instruction table and more, and the primitives' validators.
gpu_cases() { # gpu_cases FOLDER
  wrong=0
  gpu_each "$1" cases build/test/sim/run_ptx --gpu -- test/sim/cases/*.ptx test/sim/rows/*.ptx || wrong=1
  gpu_each "$1" validators env -- build/test/prim/*/validate || wrong=1
  return $wrong
}

# What is measured besides the tour: the programs of bench/, each with a time limit, FOLDER/NAME.tsv with every figure
# and FOLDER/NAME.txt with its table; all tables are printed last.
gpu_bench() { # gpu_bench FOLDER
  wrong=0
  mkdir -p "$1"
  measured=
  for program in build/bench/prim/*/bench build/bench/app/*/bench; do
    name=$(basename "$(dirname "$program")")
    options=
    [ "$name" != barrier ] || options=skew
    # shellcheck disable=SC2086 # options are words
    gpu_measure "$1" "$name" 240 "$program" "$1/$name.tsv" $options || wrong=1
  done
  gpu_measure "$1" seed 120 sh bench/seed/run.sh gpu "$(find_nvcc)" "${MUSTER_SEEDS:-$(seeds_folder)}" "$1/seed" || wrong=1
  for name in $measured; do
    say "== $name"
    cat "$1/$name.txt"
  done
  return $wrong
}

# gpu_measure FOLDER NAME SECONDS COMMAND...; what ends with 77 had nothing to measure here.
gpu_measure() {
  log=$1/$2.txt
  name=$2
  seconds=$3
  shift 3
  measured="$measured $name"
  code=0
  timeout -k 5 "$seconds" "$@" >"$log" 2>&1 || code=$?
  case $code in
  0 | 77) ;;
  *)
    say "WRONG: $name ends with $code" >>"$log"
    return 1
    ;;
  esac
}

seeds_folder() { # beside the repository, or in it
  for folder in ../shared/seeds shared/seeds; do
    [ ! -d "$folder" ] || { say "$folder"; return; }
  done
  say ../shared/seeds
}
