# api.awk: what a public header declares, a record a line, for all who need to know: the symbol map, the manual
# pages, muster.py, lint. awk -v root=include -f mk/api.awk HEADER
#
# Fields are separated by tabs. In the order of the header:
#
#   head TEXT                      a line of the comment at the header's top
#   section TITLE                  a part of the header (a rule of hyphens with a title)
#   text TEXT                      a line of a comment above declarations; of the section's, if "end" follows at once
#   block                          a run of declarations begins; the text before it is about all of them
#   source TEXT                    a line of it as it is written; functions have none
#   note TEXT                      the comment behind a declaration
#   function NAME RESULT PARAMETERS VISIBILITY   exported (MUSTER_API, MU_FN), plain, or own (MU_OWN, MU_COLD)
#   struct NAME, field STRUCT NAME TYPE COUNT    (NAME is "" where it has none)
#   enum NAME, constant ENUM NAME VALUE MEANING
#   callback NAME RESULT PARAMETERS              a pointer to a function of the caller
#   type NAME                      of a typedef that is none of these
#   macro NAME
#   end                            the run is over
#
# The headers are in clang-format's hands, so this reads their layout, not all of C: comments stand on lines of
# their own or behind what they are about, a function's body ends with a brace in the first column.

function trim(s) { gsub(/^[ \t\n]+|[ \t\n]+$/, "", s); return s }
function strip(s,   out, at, end) { # without /* */ and // comments, on one line
  out = ""
  while (match(s, /\/\*|\/\//)) {
    out = out substr(s, 1, RSTART - 1)
    at = substr(s, RSTART, 2)
    s = substr(s, RSTART + 2)
    end = at == "/*" ? index(s, "*/") : index(s, "\n")
    if (!end) { s = ""; break }
    s = substr(s, end + (at == "/*" ? 2 : 0))
  }
  out = out s
  gsub(/[ \t\n]+/, " ", out)
  return trim(out)
}
function count(s, c,   n) { n = gsub(c, "&", s); return n }

# ------------------------------------------------------------------ tables that an enum includes

# The arguments of s, which begins behind a "(": into part[1..], up to the ")" that closes it. Returns how many; 0:
# it is not closed.
function arguments(s, part,   n, i, c, depth, quoted, word) {
  n = depth = quoted = 0
  word = ""
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (quoted) {
      if (c == "\\") { word = word c; c = substr(s, ++i, 1) }
      else if (c == "\"") quoted = 0
    } else if (c == "\"") quoted = 1
    else if (c == "(") depth++
    else if (c == ")") { if (depth-- == 0) { part[++n] = trim(word); return n } }
    else if (c == "," && depth == 0) { part[++n] = trim(word); word = ""; continue }
    word = word c
  }
  return 0
}
function unquoted(s) { gsub(/^"|"$/, "", s); gsub(/"[ \t\n]+"/, "", s); gsub(/\\"/, "\"", s); return s }

# The constants that `define` (a macro's head and its expansion) makes of the rows of the table `path`.
function table(enumeration, define, path,   head, names, n, body, line, row, part, i, first, meaning, name) {
  head = define
  sub(/^#[ ]*define[ ]+/, "", head)
  name = head
  sub(/\(.*/, "", name)
  n = arguments(substr(head, length(name) + 2), names)
  body = head
  sub(/^[^)]*\)[ ]*/, "", body)
  row = ""
  while ((getline line < path) > 0) {
    if (row == "" && substr(line, 1, length(name) + 1) != name "(") continue
    row = row (row == "" ? "" : "\n") line
    if (!arguments(substr(row, length(name) + 2), part)) continue
    first = body
    meaning = ""
    for (i = 1; i <= n; i++) {
      gsub("##" names[i], part[i], first)
      if (first !~ "##") first = replace(first, names[i], part[i])
      if (names[i] ~ /^(meaning|text|what)$/) meaning = unquoted(part[i])
    }
    constant(enumeration, first, meaning)
    row = ""
  }
  close(path)
}
function replace(s, word, by,   out) { # whole words only
  out = ""
  while (match(s, /[A-Za-z_0-9]+/)) {
    out = out substr(s, 1, RSTART - 1) (substr(s, RSTART, RLENGTH) == word ? by : substr(s, RSTART, RLENGTH))
    s = substr(s, RSTART + RLENGTH)
  }
  return out s
}
function constant(enumeration, text, meaning,   name, value) { # "NAME = 1" or "NAME"
  gsub(/,/, "", text)
  name = trim(text)
  if (index(text, "=")) {
    value = trim(substr(text, index(text, "=") + 1))
    name = trim(substr(text, 1, index(text, "=") - 1))
    next_value = value ~ /^[0-9]+$/ ? value + 0 : value in known ? known[value] : value
  }
  known[name] = next_value
  say("constant", enumeration "\t" name "\t" next_value "\t" meaning)
  if (next_value ~ /^[0-9]+$/) next_value++
}

# ------------------------------------------------------------------ declarations

function say(kind, rest) {
  printf "%s\t%s\n", kind, rest
  said_text = kind == "text"
}
function text_line(s) {
  sub(/^[ \t]*(\/\*|\*\/|\*|\/\/)/, "", s)
  sub(/[ \t]*\*\/[ \t]*$/, "", s)
  sub(/^ /, "", s)
  sub(/[ \t]+$/, "", s)
  return s
}
function open_block() {
  if (!in_block) say("block", "")
  in_block = 1
}
function close_block() {
  if (in_block) say("end", "")
  in_block = 0
}
function sources(s,   lines, n, i) {
  n = split(s, lines, "\n")
  for (i = 1; i <= n; i++) say("source", lines[i])
}

function enumeration(raw,   name, lines, n, i, line, define, body, words, k, inside) {
  name = strip(raw)
  if (!sub(/.*}[ ]*/, "", name)) name = ""
  sub(/;.*/, "", name)
  say("enum", name)
  next_value = 0
  n = split(raw, lines, "\n")
  body = ""
  for (i = 1; i <= n; i++) {
    line = lines[i]
    if (line ~ /^#define/) define = line
    else if (line ~ /^#include/) {
      sub(/^#include "/, "", line)
      sub(/".*/, "", line)
      table(name, define, root "/" line)
    } else if (line ~ /^#/) continue
    else {
      if (line ~ /\{/) { inside = 1; sub(/^[^{]*\{/, "", line) }
      if (!inside) continue
      body = strip(line)
      sub(/\}.*/, "", body)
      k = split(body, words, ",")
      for (k = 1; k in words; k++)
        if (trim(words[k]) != "" && trim(words[k]) ~ /^[A-Za-z]/) constant(name, words[k], comment_of(line))
      split("", words)
    }
  }
}
function comment_of(line) {
  if (!match(line, /\/\*|\/\//)) return ""
  return text_line(substr(line, RSTART))
}

function structure(raw,   name, body, n, parts, i, type, names, k, m, one, size, pointer) {
  body = strip(raw)
  name = body
  sub(/.*}[ ]*/, "", name)
  sub(/;.*/, "", name)
  say("struct", name)
  sub(/^[^{]*\{/, "", body)
  sub(/\}[^}]*$/, "", body)
  if (body ~ /\{/) return # holds another: for people only
  n = split(body, parts, ";")
  for (i = 1; i <= n; i++) {
    one = trim(parts[i])
    if (one == "") continue
    m = split(one, names, ",")
    type = trim(names[1])
    k = match(type, /[*]*[A-Za-z_0-9]+(\[[^]]*\])?$/)
    type = trim(substr(type, 1, k - 1))
    names[1] = substr(trim(names[1]), k)
    for (k = 1; k <= m; k++) {
      one = trim(names[k])
      size = 1
      if (match(one, /\[[^]]*\]/)) {
        size = substr(one, RSTART + 1, RLENGTH - 2)
        one = substr(one, 1, RSTART - 1)
        if (size in known) size = known[size]
      }
      pointer = sub(/^\*/, "", one) ? " *" : ""
      say("field", name "\t" one "\t" type pointer "\t" size)
    }
  }
}

function declaration(raw,   s, name, result, parameters, visibility) {
  open_block()
  s = strip(raw)
  if (s ~ /^typedef enum|^enum/) { sources(raw); enumeration(raw); return }
  if (s ~ /^typedef struct [A-Za-z_0-9]+ [A-Za-z_0-9]+;$/) { # a type that nobody looks into
    sources(raw)
    sub(/.* /, "", s)
    say("struct", substr(s, 1, length(s) - 1))
    return
  }
  if (s ~ /^(typedef )?struct/) { sources(raw); structure(raw); return }
  if (match(s, /^typedef [^()]+\(\*[A-Za-z_0-9]+\)\(/)) {
    sources(raw)
    name = result = substr(s, 9, RLENGTH - 10)
    sub(/.*\(\*/, "", name)
    sub(/\(\*.*/, "", result)
    parameters = substr(s, RLENGTH + 1)
    sub(/\);$/, "", parameters)
    say("callback", name "\t" trim(result) "\t" parameters)
    return
  }
  if (s ~ /^typedef/ || (s ~ /\{.*\}$/ && s !~ /^MU_/)) {
    sources(raw)
    if (s !~ /\(/ && sub(/;$/, "", s)) {
      sub(/.* /, "", s)
      say("type", s)
    }
    return
  }
  if (s !~ /\(/) { sources(raw); return }
  visibility = "plain"
  if (sub(/^(MUSTER_API|MU_FN) /, "", s)) visibility = "exported"
  else if (sub(/^(MU_OWN|MU_COLD) /, "", s)) visibility = "own"
  sub(/ *\{.*/, "", s) # a body
  sub(/;.*/, "", s)
  parameters = s
  sub(/^[^(]*\(/, "", parameters)
  sub(/\)[^)]*$/, "", parameters)
  name = s
  sub(/\(.*/, "", name)
  result = name
  sub(/^.*[ *]/, "", name)
  result = trim(substr(result, 1, length(result) - length(name)))
  say("function", name "\t" result "\t" parameters "\t" visibility)
}

function begin(line) {
  pending = pending (pending == "" ? "" : "\n") line
  bare = strip(pending)
  depth = count(bare, "{") - count(bare, "}")
}
function complete(raw,   s) {
  declaration(raw)
  s = raw
  if (match(s, /;[ \t]*\/\*/)) {
    s = text_line(substr(s, RSTART + 1))
    if (strip(raw) !~ /\{/) say("note", s)
  }
  pending = ""
}

NR == 1 { in_head = 1 }

# Inside a comment.
in_comment {
  if (in_head) say("head", text_line($0))
  else if ($0 !~ /^[ \t]*\*\/[ \t]*$/ ) say("text", text_line($0))
  if (index($0, "*/")) in_comment = in_head = 0
  next
}
pending != "" {
  begin($0)
  if (depth == 0 && bare ~ /(;|\})$/) complete(pending)
  next
}
in_macro { in_macro = $0 ~ /\\$/; next }
in_cplusplus { if (/^#endif|^#else/) in_cplusplus = 0; next }
/^#ifdef __cplusplus/ { in_cplusplus = 1; next }
/^[ \t]*$/ {
  if (in_block || said_text) say("end", "")
  in_block = said_text = in_head = 0
  next
}
/^#[ ]*define/ {
  name = $0
  sub(/^#[ ]*define[ ]+/, "", name)
  sub(/[^A-Za-z_0-9].*/, "", name)
  if (name !~ /^(MUSTER_H|MUSTER_API|MUSTER_INIT|MUSTER_.*_(H|CUH))$/) {
    open_block()
    say("macro", name)
  }
  in_macro = /\\$/
  next
}
/^#/ { in_head = 0; next }
/^\/\* ------|^\/\/ ------/ {
  close_block()
  title = text_line($0)
  sub(/^-+ */, "", title)
  say("section", title)
  in_comment = /^\/\*/ && !index($0, "*/")
  next
}
/^\/\*/ {
  close_block()
  if (in_head) say("head", text_line($0))
  else say("text", text_line($0))
  in_comment = !index($0, "*/")
  if (!in_comment) in_head = 0
  next
}
/^\/\// {
  close_block()
  say(in_head ? "head" : "text", text_line($0))
  next
}
/^MU_(FN|OWN|COLD) |^[a-zA-Z]/ {
  if (/^MU_[A-Z_]+\(|^extern "C"/) next # a macro's use
  begin($0)
  if (depth == 0 && bare ~ /(;|\})$/) complete(pending)
}
END { close_block() }
