#!/bin/sh
# found.sh REPORT.json: its verdict, and the rules of its errors and warnings.
set -eu
tr -d '\n' <"$1" | grep -oE '"verdict": *"[^"]*"' | cut -d'"' -f4
tr -d '\n' <"$1" | grep -oE '"rule": *"[^"]*", *"severity": *"(error|warning)"' | cut -d'"' -f4 | sort -u
