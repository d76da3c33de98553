#!/bin/sh
# uninstall.sh PREFIX: removes what an installation wrote there (PREFIX/share/muster/manifest), and the folders that
# are empty then; nothing else.
set -eu
prefix=$1
manifest=$prefix/share/muster/manifest
[ -f "$manifest" ] || { echo "uninstall: no installation of muster in $prefix" >&2; exit 1; }
if grep -n -E '^$|^/|(^|/)\.\.(/|$)' "$manifest" >&2; then
  echo "uninstall: $manifest names what lies outside of $prefix: nothing is removed" >&2
  exit 1
fi
cd "$prefix"
list=$(mktemp)
cat share/muster/manifest >"$list"
tr '\n' '\0' <"$list" | xargs -0 rm -f --
# every folder above a file, the deepest first
awk -F / '{
    path = ""
    for (i = 1; i < NF; i++) {
      path = path (i > 1 ? "/" : "") $i
      if (!seen[path]++) print i "\t" path
    }
  }' "$list" | sort -rn | cut -f 2- | while IFS= read -r folder; do
  if [ -d "$folder" ] && [ -z "$(ls -A -- "$folder")" ]; then # others hold what is somebody else's
    rmdir -- "$folder"
  fi
done
rm -f "$list"
