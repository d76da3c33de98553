# demo.sh: what muster shows on a machine without a GPU. Sourced by ./dev.

muster=build/bin/muster

# demo_part WHAT COMMAND...: says what comes, runs it, indents its last line.
demo_part() {
  say ""
  say "$1"
  shift
  "$@" >build/demo.log 2>build/demo.messages || { cat build/demo.log build/demo.messages; die "the demo failed: $*"; }
  tail -1 build/demo.log | sed 's/^/    /'
}

# demo_check WHAT EXPECTED WORD...: says what comes, runs muster check with the words, shows what it says. EXPECTED is
# a rule that must be found, or clean.
demo_check() {
  what=$1 expected=$2
  shift 2
  say ""
  say "$what"
  say "  \$ muster check $*"
  code=0
  $muster check --format text --format json:build/demo.json "$@" >build/demo.log 2>build/demo.messages || code=$?
  sed 's/^/    /' build/demo.messages
  case "$expected" in
  clean) [ $code -eq 0 ] ;;
  *) [ $code -eq 1 ] && grep -q "\"rule\":\"$expected\"" build/demo.json ;;
  esac || { cat build/demo.log; die "the demo failed: muster check $*"; }
}

# What needs no CUDA compiler, and is there before one is.
demo_at_once() {
  say "muster check runs an unmodified CUDA program, or one kernel, on a CPU device and says where its synchronisation"
  say "is wrong. It needs no GPU."
  demo_check "A word and a flag, in PTX written by hand: nothing makes the word visible before the flag." missing-release \
    --kernel handover --grid 2 --block 1 --arg zero:12 examples/check/handover.ptx
}

# The barrier for groups of blocks as it was published, and as it is right.
demo_group_barrier() {
  if [ -n "$(find_nvcc)" ]; then
    demo_check "The barrier for groups of blocks in its published form: the block does not converge before thread 0 arrives." \
      missing-release build/examples/1-group-barrier/broken/no_convergence 1
    demo_check "The same barrier repaired: a __syncthreads() before the arrival." clean \
      build/examples/1-group-barrier/reset_segments 4 4 1 128 1 1
    demo_check "After a barrier of the whole grid each thread adds its neighbour's element, which the neighbour changes." \
      race-global build/examples/2-sync-and-atomics/broken/grid_neighbour
  else
    demo_check "The barrier for groups of blocks in its published form: the block does not converge before thread 0 arrives." \
      missing-release --kernel reset --grid 4 --block 128 --cooperative --arg zero:2048 --arg u32:512 --arg zero:4 \
      --arg u32:2 --arg zero:4 examples/1-group-barrier/broken/no_convergence.cu
    demo_check "The same barrier repaired: a __syncthreads() before the arrival." clean \
      --kernel normalise --grid 4,2 --block 1024 --cooperative --arg random:u32:16000 --arg u32:2 --arg u32:4000 \
      --arg u32:3 --arg zero:4096 --arg zero:1024 examples/1-group-barrier/small_batch.cu
  fi
}

# The bytes of FILE, counted by a kernel of the tour that reads the file as its buffer.
demo_histogram() {
  bytes=$(wc -c <"$1")
  $muster run --quiet --kernel byte_histogram --grid 16 --block 256 --arg "file:$1" --arg "u32:$bytes" \
    --arg zero:1024 --out 2:build/demo.counts examples/2-sync-and-atomics/byte_histogram.cu
  od -An -v -tu4 -w4 build/demo.counts | awk -v bytes="$bytes" '
    { count[NR - 1] = $1; sum += $1 }
    END {
      for (shown = 0; shown < 5; shown++) {
        best = 0
        for (byte in count) if (count[byte] > count[best]) best = byte
        if (count[best] == 0) break
        line = line sprintf("  %s x %d", best + 0 > 32 && best + 0 < 127 ? sprintf("\"%c\"", best + 0) : "byte " best, count[best])
        count[best] = 0
      }
      printf "%d of %d bytes counted, the most frequent:%s\n", sum, bytes, line
      exit sum != bytes
    }'
}

# 16384 ones times ones in 32 blocks, the kernel as plain C; awk adds the 32 partial sums.
demo_dot() {
  $muster run --quiet --kernel dot_kernel --grid 32 --block 256 --shared 1024 --arg zero:128 \
    --arg fill:f32:16384:1 --arg fill:f32:16384:1 --arg u32:16384 --out 0:build/demo.partial \
    examples/3-thread-cooperation/dot.cu
  od -An -v -tfF -w4 build/demo.partial |
    awk '{ sum += $1 } END { print "the dot product of 16384 ones is", sum; exit sum != 16384 }'
}

# Eight rows, by one block a row and by four that meet at the group barrier: the same numbers.
demo_group() {
  for blocks in 1 4; do
    $muster run --quiet --kernel normalise --grid "$blocks,8" --block 1024 --cooperative \
      --arg random:u32:80000 --arg u32:8 --arg u32:5000 --arg u32:6 --arg zero:4096 --arg zero:1024 \
      --out "0:build/demo.rows.$blocks" examples/1-group-barrier/small_batch.cu
  done
  cmp build/demo.rows.1 build/demo.rows.4 &&
    say "8 rows of 5000 words, 6 dependent steps: one block a row and four blocks a row agree to the last bit"
}

demo_without_gpu() { # demo_without_gpu FILE
  demo_group_barrier
  say ""
  say "The CPU device runs CUDA programs as nvcc made them: muster run."
  if [ -n "$(find_nvcc)" ]; then
    demo_part "A barrier for groups of blocks beside the barrier of the whole grid, 4 x 32 blocks of 128 threads:" \
      $muster run build/examples/1-group-barrier/reset_segments
    demo_part "The dot product of 64 x 256 elements, by 32 blocks of 256 threads:" \
      $muster run build/examples/3-thread-cooperation/dot
  else
    say "There is no nvcc here: the same kernels as plain C, compiled by clang and launched by muster."
    demo_part "The group barrier, four blocks a row against one:" demo_group
    demo_part "The dot product of 64 x 256 elements, by 32 blocks of 256 threads:" demo_dot
  fi
  demo_part "How often each byte occurs in $1, counted by 16 blocks in shared memory:" demo_histogram "$1"
  say ""
  say "What an H200 said to all of it, and to every claim of the articles: doc/tour.md"
}
