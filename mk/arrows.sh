# arrows.sh: whether includes go only along the arrows of mk/arrows.txt. Sourced by mk/lint.sh, which calls
# lint_arrows; run by itself (sh mk/arrows.sh [ROOT]) it prints every include that goes another way and fails.

# lint_arrows [ROOT]: every quoted include of every C file that git tracks (of every file, outside git).
lint_arrows() {
  (
    cd "${1:-.}" || exit 1
    files=$(git ls-files -- '*.c' '*.h' '*.def' '*.cu' '*.cuh' 2>/dev/null | sort -u)
    [ -n "$files" ] || files=$(find . -path ./build -prune -o -name '*.[ch]' -print -o -name '*.def' -print -o -name '*.cu' -print \
      -o -name '*.cuh' -print | sed 's|^\./||')
    printf '%s\n' "$files" | awk '
      function layer(path,   part) {
        split(path, part, "/")
        return part[1] == "src" ? part[2] : part[1]
      }
      # a/b/../c to a/c
      function plain(path) {
        while (sub(/\/\.\//, "/", path) || sub(/(^|\/)[^\/.][^\/]*\/\.\.\//, "/", path)) sub(/^\//, "", path)
        return path
      }
      # the arrow as a regular expression: * is any text
      function pattern(glob) {
        gsub(/[.+]/, "\\\\&", glob)
        gsub(/\*/, ".*", glob)
        return "^" glob "$"
      }
      BEGIN {
        while ((getline row < "mk/arrows.txt") > 0) {
          sub(/#.*/, "", row)
          n = split(row, word, /[ \t]+/)
          if (n >= 3 && word[2] == "->") { arrows++; who[arrows] = word[1]; what[arrows] = pattern(word[3]) }
          else if (row ~ /[^ \t]/) { print "mk/arrows.txt: not understood: " row; bad = 1 }
        }
        if (!arrows) { print "mk/arrows.txt: no arrows"; exit bad = 1 }
      }
      { known[$0] = 1; list[NR] = $0 }
      END {
        for (i = 1; i <= NR; i++) {
          file = list[i]
          from = layer(file)
          if (from == "test") continue
          folder = file
          sub(/[^\/]*$/, "", folder)
          for (line = 1; (getline text < file) > 0; line++) {
            if (text ~ /^[ \t]*#[ \t]*include[ \t]*<(cuda|nv|cooperative_groups|device_)[^>]*>/ && from != "examples" &&
                file !~ /\.cu$/ && !(from == "bench")) {
              print file ":" line ": includes a header of the CUDA toolkit: " text
              bad = 1
            }
            if (text !~ /^[ \t]*#[ \t]*include[ \t]*"/) continue
            name = text
            sub(/^[^"]*"/, "", name)
            sub(/".*/, "", name)
            target = ""
            if (plain(folder name) in known) target = plain(folder name)
            else if (("src/" name) in known) target = "src/" name
            else if (("include/" name) in known) target = "include/" name
            else if (("tool/" name) in known) target = "tool/" name
            else if (("examples/common/" name) in known) target = "examples/common/" name
            if (target == "") { print file ":" line ": includes \"" name "\", which is nowhere"; bad = 1; continue }
            if (layer(target) == from) continue
            good = 0
            for (k = 1; k <= arrows; k++)
              if (who[k] == from && target ~ what[k]) good = 1
            if (!good) { print file ":" line ": " from " may not include " target; bad = 1 }
          }
          close(file)
        }
        exit bad
      }'
  )
}

case "${0##*/}" in arrows.sh) lint_arrows "$@" ;; esac
