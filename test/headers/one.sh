#!/bin/sh
# one.sh HEADER WORK INCLUDE NVCC CLANG PTXAS [all]: HEADER (a name below muster/) alone, by every compiler at hand
# ("" where there is none).
#
#   host C and C++     the types, and nothing else, with all warnings
#   clang, plain C     for 6.0, 7.0, 7.5, 8.0, 9.0; with `all` every function is written out, as it stands (optimised
#                      for the last only: that takes five times as long), and ptxas takes all of it for each later
#                      architecture (those before 7.5 are beyond today's ptxas)
#   clang as CUDA      without any CUDA header
#   nvcc               C++14, C++17, C++20
set -eu
header=$1 work=$2 include=$3 nvcc=$4 clang=$5 ptxas=$6 all=${7:+-DMU_FN=__attribute__((used)) static inline}
mkdir -p "$work"
source=$work/$(echo "$header" | tr ./ __).cu
echo "#include \"muster/$header\"" >"$source"

cc -x c -std=c11 -Wall -Wextra -Werror -pedantic -I"$include" -fsyntax-only "$source"
c++ -x c++ -std=c++14 -Wall -Wextra -Werror -pedantic -I"$include" -fsyntax-only "$source"

if [ -n "$clang" ]; then
  for arch in 60 70 75 80 90; do
    level=-O1
    if [ -n "$all" ] && [ $arch -lt 90 ]; then level=-O0; fi
    "$clang" -x c -std=c11 --target=nvptx64-nvidia-cuda -march=sm_$arch -Xclang -target-feature -Xclang +ptx83 $level -Wall -Wextra -Werror -pedantic \
      ${all:+"$all"} -I"$include" -S "$source" -o "$source.$arch.ptx"
  done
  "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only -std=c++14 --target=x86_64-linux-gnu \
    --cuda-gpu-arch=sm_75 -Wno-unknown-cuda-version -Wall -Wextra -Werror -I"$include" -S "$source" -o "$source.cuda.ptx"
  if [ -n "$ptxas" ] && [ -n "$all" ]; then
    "$ptxas" -arch=sm_75 "$source.75.ptx" -o /dev/null
    for arch in 80 86 89; do "$ptxas" -arch=sm_$arch "$source.80.ptx" -o /dev/null; done
    for arch in 90 100 120; do "$ptxas" -arch=sm_$arch "$source.90.ptx" -o /dev/null; done
  fi
fi
if [ -n "$nvcc" ]; then
  for standard in 14 17 20; do
    "$nvcc" -std=c++$standard -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -I"$include" \
      -cubin "$source" -o "$source.cubin"
  done
fi
