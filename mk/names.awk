# names.awk: where each name of the headers is described. Reads what mk/names.sh puts together:
#
#   header FILE                    the records of api.awk that follow are FILE's
#   expanded FILE NAME             what the preprocessor makes of a header's macros is a public function, NAME
#   used PLACE NAME                somebody uses the macro NAME
#
# Prints "NAME FILE" for each expanded name that its header describes, and, on standard error, what has no contract:
# a public function without a comment above its run of declarations, beside it, or a line of the header's lists that
# has its name or its pattern; a macro that is used and nowhere described. A list's line is indented and begins with
# the name, or has it behind a comma; <order> and the like stand for each of the words below.
BEGIN {
  FS = "\t"
  word["op"] = "(add|sub|mul|min|max|inc|dec|and|or|xor|exchange)"
  word["red_op"] = "red_" word["op"]
  word["order"] = "(relaxed|acquire|release|acq_rel)"
  word["scope"] = "(block|cluster|device|system)"
  word["elem"] = "([us](8|16|32|64)|b?f16(x2)?|f32|f64|ptr|b128)"
  word["d"] = "[xyz]"
}
function wrong(text) {
  print text > "/dev/stderr"
  failed = 1
}
# A name with <words|and|alternatives> as a regular expression.
function pattern(name,   out, list, n, i, inside) {
  out = ""
  while (match(name, /<[^>]*>/)) {
    inside = substr(name, RSTART + 1, RLENGTH - 2)
    out = out substr(name, 1, RSTART - 1) "("
    name = substr(name, RSTART + RLENGTH)
    n = split(inside, list, "|")
    for (i = 1; i <= n; i++) out = out (i > 1 ? "|" : "") (list[i] in word ? word[list[i]] : list[i])
    out = out ")"
  }
  return out name
}
function read_list(line,   name) {
  if (line !~ /^  /) return
  sub(/^ +/, "", line)
  while (match(line, /^[a-zA-Z_0-9<>|]+/)) {
    name = substr(line, 1, RLENGTH)
    line = substr(line, RLENGTH + 1)
    if (name ~ /^MU_/) { macro_described[name] = 1; return }
    if (name !~ /^mu_/) return
    if (name ~ /</) patterns[file, ++n_patterns[file]] = "^" pattern(name) "$"
    else listed[file, name] = 1
    sub(/^\([^)]*\)/, "", line)
    if (!sub(/^, */, "", line)) return
  }
}
function described(file, name,   i) {
  if ((file, name) in listed || (file, name) in commented) return 1
  for (i = 1; i <= n_patterns[file]; i++) if (name ~ patterns[file, i]) return 1
  return 0
}

$1 == "header" { file = $2; text = 0; next }
$1 == "head" && $2 ~ /^Callers     / { callers[file] = 1 }
$1 == "head" || $1 == "text" {
  if ($1 == "text") text = 1
  read_list($2)
  line = $2
  while (match(line, /MU_[A-Z_0-9]+/)) {
    macro_described[substr(line, RSTART, RLENGTH)] = 1
    line = substr(line, RSTART + RLENGTH)
  }
  next
}
$1 == "function" && $5 != "own" {
  last = $2
  if (text) commented[file, $2] = 1
  else { open_at[file, $2] = 1; order[++n_order] = file "\t" $2 }
}
$1 == "note" && last != "" { commented[file, last] = 1 }
$1 == "function" && $5 == "own" { last = "" }
$1 == "struct" || $1 == "enum" || $1 == "source" { last = "" }
$1 == "end" { text = 0; last = "" }
$1 == "expanded" {
  n_expanded++
  if (described($2, $3)) print $3, $2
  else wrong($2 ": " $3 " has no contract")
  seen[$2, $3] = 1
  if (!($2 in callers)) { wrong($2 ": its beginning does not say who may call (Callers)"); callers[$2] = 1 }
}
$1 == "used" && !($3 in macro_described) { wrong($2 ": uses " $3 ", which no header describes") }
END {
  for (i = 1; i <= n_order; i++) {
    split(order[i], at, "\t")
    if (!described(at[1], at[2]) && !((at[1], at[2]) in seen)) wrong(at[1] ": " at[2] " has no contract")
  }
  if (!n_expanded) wrong("names.awk: no function came out of the preprocessor")
  exit failed
}
