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
