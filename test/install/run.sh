#!/bin/sh
# run.sh BUILD SOURCE WORK VERSION NVCC CLANG: installs BUILD into a prefix, builds and runs the examples from there, knowing
# nothing but the prefix; does it again after the prefix was moved; removes it, and nothing is left.
set -eu
build=$1 source=$2 work=$3 version=$4 nvcc=$5 clang=$6
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$work/first" >install.log || { tail install.log; fail "cmake --install"; }

# What was installed names neither the source tree nor the build, nor the prefix, where people and compilers read it.
for place in "$source/" "$build/" "$work/first"; do
  if grep -rIlF -- "$place" first; then fail "files above name $place"; fi
done
readelf -d first/bin/muster first/lib/*.so first/lib/muster/*.so* | grep -E 'R(UN)?PATH' | grep -F "$work" && fail "a run path is absolute"

# use PREFIX: everything that a user does with it. The environment has no other path.
use() {
  prefix=$1
  rm -rf project
  cp -r "$prefix/share/muster/examples/package" project
  env -i PATH="$PATH" HOME="$work" MUSTER_DEVICE=cpu sh -eu "$here/use.sh" "$prefix" "$version" "$nvcc" "$clang"
}
use "$work/first"
mv first second
use "$work/second"

# Two installations in one prefix share its manifest: the headers first, the rest later.
cmake --install "$build" --prefix "$work/parts" --component headers >install.log
[ ! -e parts/lib/libmuster.so ] || fail "the component headers brings the library"
mkdir -p parts/lib && echo mine >parts/lib/mine
rm -rf project && cp -r "$source/examples/package" project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(headers_alone LANGUAGES C)
find_package(muster 0.1 REQUIRED COMPONENTS headers)
if(TARGET muster::muster)
  message(FATAL_ERROR "the library is here")
endif()
find_package(muster 0.1 COMPONENTS headers library QUIET)
if(muster_FOUND)
  message(FATAL_ERROR "a component that is not installed was found")
endif()
CMAKE
cmake -S project -B project/b -DCMAKE_PREFIX_PATH="$work/parts" >cmake.log || { cat cmake.log; fail "headers alone"; }
cmake --install "$build" --prefix "$work/parts" >install.log
sh "$source/mk/uninstall.sh" "$work/parts"
[ "$(find parts -mindepth 1 | sort | tr '\n' ' ')" = "parts/lib parts/lib/mine " ] || { find parts; fail "uninstall left or took something"; }

sh "$source/mk/uninstall.sh" "$work/second"
[ -z "$(find second -mindepth 1)" ] || { find second; fail "uninstall left something"; }
if sh "$source/mk/uninstall.sh" "$work/second" 2>why; then fail "a second uninstall found something"; fi
grep -q "no installation of muster in $work/second" why || fail "uninstall does not say why"

# A manifest that points elsewhere is refused whole.
mkdir -p evil/share/muster && echo keep >kept && echo keep >evil/inside
printf 'inside\n../kept\n' >evil/share/muster/manifest
if sh "$source/mk/uninstall.sh" "$work/evil" 2>why; then fail "uninstall follows .."; fi
if [ ! -f kept ] || [ ! -f evil/inside ]; then fail "uninstall removed what a bad manifest names"; fi
rm -rf "$work"
