# use.sh PREFIX VERSION NVCC CLANG: run by run.sh, in a folder where project/ is the installed examples/package.
prefix=$1 version=$2 nvcc=$3 clang=$4
fail() { echo "FAILED: $*"; exit 1; }
quiet() { "$@" >step.log 2>&1 || { cat step.log; fail "$*"; }; }

# CMake
quiet cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" -DNVCC="$nvcc" -DCLANG="$clang" \
  -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
quiet cmake --build project/build
quiet ctest --test-dir project/build --output-on-failure --no-tests=error
grep -q '100% tests passed' step.log || fail "ctest"
[ "$(grep -c ' Passed ' step.log)" -ge 4 ] || { cat step.log; fail "not all of the examples' tests ran"; }
# every header came from the prefix
find project/build -name '*.c.o.d' -exec cat {} + >headers_read
grep -qF "$prefix/include/muster.h" headers_read || fail "no header of the prefix was read"
if tr ' ' '\n' <headers_read | grep muster | grep -v -e "^$prefix/" -e /project/ -e '\.c\.o:$'; then fail "headers above are from elsewhere"; fi
sed 's/find_package(muster 0.1/find_package(muster 9.0/' project/CMakeLists.txt >later && mkdir -p project/later && mv later project/later/CMakeLists.txt
if cmake -S project/later -B project/later/b -DCMAKE_PREFIX_PATH="$prefix" >step.log 2>&1; then fail "version 9.0 was found"; fi
grep -qF "version: $version" step.log || { cat step.log; fail "the version found is not named"; }

# pkg-config
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  [ "$(pkg-config --modversion muster)" = "$version" ] || fail "pkg-config's version"
  [ "$(realpath "$(pkg-config --variable=includedir muster-headers)")" = "$prefix/include" ] || fail "pkg-config's prefix"
  if [ -n "$clang" ]; then
    quiet make -C project check CLANG="$clang"
    quiet make -C project clean
  else
    quiet make -C project dot dot_static verdict
  fi
else
  echo "no pkg-config: not used"
fi

# The libraries: their names, what they export, and under which version; the archive has the same names and no others.
for library in muster muster-report; do
  readelf -d "$prefix/lib/lib$library.so" | grep -q "SONAME.*\[lib$library\.so\.0\]" || fail "the soname of $library"
done
nm -D --defined-only "$prefix/lib/libmuster.so" | awk '$2 != "A" { print $3 }' | sort >shared
grep -v '@@MUSTER_0$' shared && fail "symbols above have no version"
nm -g --defined-only "$prefix/lib/libmuster.a" | awk 'NF == 3 { print $3 }' | sort >static
sed 's/@@.*//' shared | diff - static || fail "the archive's names"
grep -q muster_reduce static || fail "no muster_reduce"
nm -D --defined-only "$prefix/lib/libmuster-report.so" | awk '$2 != "A" { print $3 }' | sort >shared
grep -v '^muster_.*@@MUSTER_0$' shared && fail "libmuster-report exports what it should not"
grep -o '^[a-z].*[ *]muster_[a-z_]*(' "$prefix/include/muster/check.h" | sed 's/($//; s/.*[ *]//' | while read -r name; do
  grep -q "^$name@@" shared || fail "libmuster-report lacks $name"
done || exit 1

# The manual
page() { # page SECTION NAME
  if command -v man >/dev/null; then MANPATH="$prefix/share/man" man -w "$1" "$2" >/dev/null; else [ -e "$prefix/share/man/man$1/$2.$1" ]; fi ||
    fail "no manual page of $2"
}
for name in muster_reduce mu_barrier_sync mu_add_acq_rel_system_f64 mu_tile_reduce_add_f32 MU_FOR_GRID libmuster; do
  page 3 "$name"
done
for command in $("$prefix/bin/muster" --help | awk '/^  muster / { print $2 }'); do
  page 1 "muster-$command"
done

# Completion lies where the shells look.
for file in bash-completion/completions/muster zsh/site-functions/_muster fish/vendor_completions.d/muster.fish; do
  [ -s "$prefix/share/$file" ] || fail "no $file"
done

# Python
if command -v python3 >/dev/null; then
  quiet env PYTHONPATH="$prefix/share/muster/python" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import muster
with muster.open("cpu") as device:
    assert device.reduce("sum", b"\1\2\3") == 6'
fi
