#!/bin/sh
# kinds.sh ROOT: the parent knows the kinds of message that the device sends, no more and no less.
set -eu
sed -n 's/^MESSAGE([A-Z]*, "\([a-z]*\)".*/\1/p' "$1/src/driver/message.def" | sort >sent.txt
grep -o '{"[a-z]*", [A-Z_]*}' "$1/tool/parent.c" | sed 's/{"\([a-z]*\)".*/\1/' | sort >known.txt
[ -s sent.txt ] && diff sent.txt known.txt
