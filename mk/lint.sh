# lint.sh: what can be judged without running anything. Sourced by ./dev.

lint_failed=0
lint() { # lint WHAT COMMAND...: prints WHAT and the command's output when it fails
  what=$1
  shift
  if output=$("$@" 2>&1); then
    say "ok    $what"
  else
    say "WRONG $what"
    say "$output"
    lint_failed=1
  fi
}

tracked() { git ls-files -- "$@"; }

lint_format() { tracked '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format-19 --dry-run -Werror; }
lint_shell() { tracked dev .ci/run '*.sh' | xargs shellcheck -s sh; }
lint_length() {
  long=$(tracked '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.cmake' | xargs wc -l | awk '$1 > 1000 && $2 != "total"')
  [ -z "$long" ] || { say "over 1000 lines: $long"; return 1; }
}
lint_docs() { # the generated documents are what their tables say
  for document in $(generated_documents); do
    write_document "$document" | cmp - "$document" || return 1
  done
}
lint_contracts() { sh mk/names.sh . "${CC:-cc}" >/dev/null; }

run_lint() {
  lint "clang-format" lint_format
  lint "shellcheck" lint_shell
  lint "arrows between layers" lint_arrows
  lint "files under 1000 lines" lint_length
  lint "every public declaration has its contract" lint_contracts
  lint "generated documents are current (./dev docs)" lint_docs
  return $lint_failed
}
