# tour.sh: runs the tour on a GPU, keeps the results, writes the documents. Sourced by ./dev.

recorded=bench/results/h200/tour.tsv

tour_document() { if [ "$1" = zh ]; then say doc/tour.zh.md; else say doc/tour.md; fi; }
tour_markdown() { build/examples/tour markdown $recorded "$1" examples; }

have_gpu() { have nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q GPU; }
ask_gpu() { nvidia-smi "--query-gpu=$1" --format=csv,noheader,nounits -i 0; }

tour_meta() {
  printf 'meta\tgpu\t%s\n' "$(ask_gpu name)"
  printf 'meta\tdriver\t%s\n' "$(ask_gpu driver_version)"
  printf 'meta\tclock_mhz\t%s\n' "$(ask_gpu clocks.max.sm)"
  printf 'meta\tcuda\t%s\n' "$("$(find_nvcc)" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
  printf 'meta\tdate\t%s\n' "$(date -u +%Y-%m-%d)"
  printf 'meta\tcommit\t%s\n' "${MUSTER_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || say unknown)}"
}

# tour_run RESULTS MODE: every row that cannot hang the device, each with a time limit; MODE verify leaves
# the --time runs out, measure runs only them. Appends to RESULTS.
tour_run() {
  build/examples/tour list | while IFS='	' read -r kind when program arguments; do
    [ "$when" = runs ] || continue
    case "$2:$kind" in measure:claim | verify:show | verify:broken) ;; *) continue ;; esac
    # shellcheck disable=SC2086 # arguments are words
    if output=$(timeout -k 5 90 "build/examples/$program" $arguments 2>&1); then
      status=ok
    else
      status=FAILED
    fi
    printf '%s\n' "$output" | sed -n "s|^figure \([^ ]*\) \([^ ]*\) \(.*\)|figure	\1	\2	\3	$program|p" >>"$1"
    last=$(printf '%s\n' "$output" | grep -v '^figure ' | tail -1 | tr '\t' ' ')
    printf 'run\t%s\t%s\t%s\t%s\n' "$program" "$arguments" "$status" "$last" >>"$1"
    [ "$status" = ok ] || printf '%s\n' "$output" >&2
  done
}

# tour_on_gpu FOLDER MODE...: results of the modes into FOLDER/tour.tsv, then the table.
tour_on_gpu() {
  have_gpu || die "no GPU here; the last results are in $recorded (./dev demo shows them)"
  results=$1/tour.tsv
  shift
  mkdir -p "$(dirname "$results")"
  tour_meta >"$results.part"
  for mode; do
    tour_run "$results.part" "$mode"
  done
  mv "$results.part" "$results"
  build/examples/tour table "$results"
}
