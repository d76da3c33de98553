# deps.sh: what this machine lacks, and how it gets there. Sourced by ./dev.

toolchain=build/toolchain

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "dev: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# The nvcc that mk/Cuda.cmake would find, or nothing.
find_nvcc() {
  for nvcc in "$(command -v nvcc || true)" "${CUDA_PATH:-}/bin/nvcc" "${CUDA_HOME:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc "$toolchain/nvidia/cu13/bin/nvcc"; do
    [ -x "$nvcc" ] && { say "$nvcc"; return; }
  done
  return 0
}

# packages_for COMMAND:PACKAGE HEADER.h:PACKAGE ...: the packages whose command or header is missing.
packages_for() {
  for pair; do
    case "${pair%%:*}" in
    *.h) [ -e "/usr/include/${pair%%:*}" ] ;;
    *) have "${pair%%:*}" ;;
    esac || printf '%s ' "${pair#*:}"
  done
}

# confirm QUESTION: asks when a person sits at a terminal, else goes on.
confirm() {
  [ -t 0 ] && [ -t 1 ] && [ -z "${CI:-}" ] || return 0
  printf '%s [Y/n] ' "$1"
  read -r answer
  case "$answer" in [nN]*) return 1 ;; esac
}

# install_debian PACKAGE...: says it, asks, installs.
install_debian() {
  [ $# -gt 0 ] || return 0
  have apt-get || die "this machine lacks what these Debian packages hold: $*"
  say "Installing Debian packages: $*"
  confirm "Install them?" || die "not without them"
  as_root=
  [ "$(id -u)" = 0 ] || as_root="sudo"
  [ -z "$as_root" ] || have sudo || die "neither root nor sudo: please install $*"
  if ! { $as_root apt-get update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >build/apt.log 2>&1; then
    tail -5 build/apt.log
    die "apt-get could not install $* (build/apt.log)"
  fi
}

# NVIDIA's compiler into build/toolchain, never into the system's Python. Not having it is no error.
fetch_nvcc() {
  say "Fetching NVIDIA's CUDA 13.0 compiler from PyPI into $toolchain (100 MB)"
  confirm "Fetch it?" || return 1
  rm -rf "$toolchain.part"
  python3 -m pip install -q --disable-pip-version-check --no-deps --no-compile --target "$toolchain.part" \
    -r mk/toolchain.txt >build/pip.log 2>&1 || return 1
  ln -s lib "$toolchain.part/nvidia/cu13/lib64"
  ln -s libcudart.so.13 "$toolchain.part/nvidia/cu13/lib/libcudart.so"
  rm -rf "$toolchain"
  mv "$toolchain.part" "$toolchain"
}

# The same in the background, for the time between the two calls.
fetching=
fetch_begin() {
  [ -z "$(find_nvcc)" ] || return 0
  install_packages pip3:python3-pip
  { fetch_nvcc </dev/null >build/fetch.log 2>&1 || true; } &
  fetching=$!
}
fetch_end() {
  [ -z "$fetching" ] || wait "$fetching" || true
  fetching=
}

install_packages() { # install_packages COMMAND:PACKAGE...: those that are missing
  # shellcheck disable=SC2046 # one word a package
  install_debian $(packages_for "$@")
}

# need device|build|test|long|full|fuzz|bench: everything that the step needs is here afterwards, or it has said why not.
# The device alone needs no nvcc.
need() {
  mkdir -p build
  pip=
  [ "$1" = device ] || [ -n "$(find_nvcc)" ] || pip="pip3:python3-pip"
  tools=
  case "$1" in
  test | long) tools="git:git clang-19:clang-19 clang-format-19:clang-format-19 shellcheck:shellcheck" ;;
  full) tools="git:git clang-19:clang-19 clang-format-19:clang-format-19 shellcheck:shellcheck valgrind:valgrind" ;;
  fuzz) tools="clang-19:clang-19 clang-19:libclang-rt-19-dev" ;;
  bench) tools="CL/cl.h:opencl-c-headers poclcc:pocl-opencl-icd" ;;
  esac
  # A machine with a GPU and no package registry runs the tour without the CPU device.
  have_gpu || tools="zstd.h:libzstd-dev lz4.h:liblz4-dev jansson.h:libjansson-dev $tools"
  libraries=
  have_gpu || for pair in zstd.h:libzstd-dev lz4.h:liblz4-dev jansson.h:libjansson-dev; do
    printf '#include <%s>\n' "${pair%%:*}" | cc -E -x c - >/dev/null 2>&1 || libraries="$libraries ${pair#*:}"
  done
  # shellcheck disable=SC2046,SC2086 # one word a package
  install_debian $libraries $(packages_for cc:gcc c++:g++ cmake:cmake make:make $pip $tools)
  [ "$1" != device ] || return 0
  if [ -z "$(find_nvcc)" ] && ! fetch_nvcc; then
    say "No nvcc here and none from PyPI (build/pip.log): going on with clang-19, plain C kernels only"
    # shellcheck disable=SC2046
    install_debian $(packages_for clang-19:clang-19)
  fi
}
