#!/bin/sh
# exports.sh LIBRARY HEADER: the library's exported names are those that the header marks MUSTER_API.
set -u
nm -D --defined-only "$1" | awk '$2 ~ /[TDBR]/ { print $3 }' | sed 's/@.*//' | sort >exported.txt
tr '\n' ' ' <"$2" | grep -o 'MUSTER_API [^(]*(' | sed 's/($//; s/.*[ *]//' | grep -v __attribute__ | sort >declared.txt
[ -s declared.txt ] && diff declared.txt exported.txt
