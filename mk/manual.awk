# manual.awk: manual pages of a public header, from the records of api.awk.
#
#   awk -f mk/api.awk HEADER | awk -v out=DIR -v header=muster/barrier.cuh -v page=muster_barrier -v version=0.1.0
#     -v by=page|section -v also="a(3), b(3)" -f mk/manual.awk
#
# by=page: one page for the header. by=section: `page` holds the header's beginning, and each of its sections is a
# page that bears the name of its first function. Writes DIR/PAGE.3, and prints a line "NAME PAGE" for every function,
# type and macro that is described on PAGE.

BEGIN { FS = "\t" }

function roff(s) {
  gsub(/\\/, "\\e", s)
  gsub(/-/, "\\-", s)
  gsub(/\^/, "\\(ha", s)
  gsub(/~/, "\\(ti", s)
  gsub(/`/, "\\(ga", s)
  if (s ~ /^[.']/) s = "\\&" s
  return s
}
function put(s) { printf "%s\n", s >file }
function trim(s) { gsub(/^ +| +$/, "", s); return s }

# Lines of a comment: paragraphs; what is indented, as it stands; "Callers     who" with its further lines, as an item.
function prose(lines, n,   i, line, state, blank) {
  state = "" # "", fill, item, code
  blank = 0
  for (i = 1; i <= n; i++) {
    line = lines[i]
    if (line == "") { blank = 1; continue }
    if (line ~ /^            [^ ]/ && state == "item" && !blank) put(roff(trim(line)))
    else if (line ~ /^  /) {
      if (state != "code") put(".PP\n.EX")
      else if (blank) put("")
      state = "code"
      put(roff(line))
    } else {
      if (state == "code") put(".EE")
      if (substr(line, 11, 2) == "  " && line ~ /^[A-Z]/ && substr(line, 13, 1) != " ") {
        put(".TP 12\n.B " roff(trim(substr(line, 1, 12))))
        put(roff(substr(line, 13)))
        state = "item"
      } else {
        if (state != "fill" || blank) put(".PP")
        put(roff(line))
        state = "fill"
      }
    }
    blank = 0
  }
  if (state == "code") put(".EE")
}

# ------------------------------------------------------------------ reading

# A declaration in lines that fit a page: further ones begin under the first parameter, or a little in from the left.
function prototype(start, parameters,   list, n, i, line, indent) {
  n = split(parameters, list, ", ")
  indent = length(start) > 40 ? 4 : length(start)
  line = start
  for (i = 1; i <= n; i++) {
    if (length(line) + length(list[i]) > 68 && line != start) {
      sources[++n_sources] = line
      line = sprintf("%" indent "s", "")
    }
    line = line list[i] (i < n ? ", " : ");")
  }
  sources[++n_sources] = line
  name_at[n_sources] = functions[n_functions]
}

$1 == "head" { heads[++n_heads] = $2; next }
$1 == "section" { section = $2; sections[++n_sections] = section; next }
$1 == "text" { texts[++n_texts] = $2; next }
$1 == "block" { block = 1; next }
$1 == "source" { sources[++n_sources] = $2; if ($2 ~ /^#include/) generated = 1; next }
$1 == "note" { notes[n_sources] = (n_sources in name_at ? name_at[n_sources] ": " : "") $2; next }
$1 == "constant" { constants[++n_constants] = $3; meanings[n_constants] = $5; next }
$1 == "function" {
  functions[++n_functions] = $2
  names[++n_names] = $2
  if ($5 != "own") public_functions++
  prototype($3 ($3 ~ /\*$/ ? "" : " ") $2 "(", $4)
  next
}
$1 == "struct" || $1 == "enum" || $1 == "callback" || $1 == "type" { types++; if ($2 != "") names[++n_names] = $2; next }
$1 == "macro" { macros[++n_macros] = $2; known_macros[$2] = 1; next }
$1 == "end" { keep(); next }

# What is known of a block, as one string of lines: the page's parts are written when all is read.
function keep(   kind, s, i, has_macro) {
  for (i = 1; i <= n_texts; i++) find_macros(texts[i])
  if (!block) kind = n_texts ? "text" : ""
  else if (public_functions) kind = "function"
  else if (n_functions) kind = ""
  else if (types && (n_texts || header ~ /\.h$/)) kind = "type"
  else if (n_macros && n_texts) {
    for (i = 1; i <= n_macros; i++) if (macros[i] in described) has_macro = 1
    kind = has_macro ? "text" : ""
  } else kind = n_texts && !n_macros && !n_sources ? "text" : ""
  if (kind != "") {
    n_kept++
    kept_kind[n_kept] = kind
    kept_section[n_kept] = n_sections + 0
    kept_texts[n_kept] = n_texts
    for (i = 1; i <= n_texts; i++) kept_text[n_kept, i] = texts[i]
    kept_sources[n_kept] = generated || kind == "text" ? 0 : n_sources
    for (i = 1; i <= n_sources; i++) { kept_source[n_kept, i] = sources[i]; kept_note[n_kept, i] = notes[i] }
    kept_constants[n_kept] = generated ? n_constants : 0
    for (i = 1; i <= n_constants; i++) { kept_constant[n_kept, i] = constants[i]; kept_meaning[n_kept, i] = meanings[i] }
    kept_names[n_kept] = n_names
    for (i = 1; i <= n_names; i++) kept_name[n_kept, i] = names[i]
    kept_first[n_kept] = n_functions ? functions[1] : ""
  }
  n_texts = n_sources = n_constants = n_functions = n_names = n_macros = 0
  block = generated = public_functions = types = 0
  split("", notes)
  split("", name_at)
}
function is_described(macro,   i) { # by its name, or as one of MU_HAS_<x>
  for (i = 1; i <= n_families; i++) if (index(macro, families[i]) == 1) return 1
  return macro in described
}
function find_macros(line) {
  while (match(line, /M[UN][A-Z]*_[A-Za-z_0-9]+/)) {
    described[substr(line, RSTART, RLENGTH)] = 1
    if (substr(line, RSTART + RLENGTH, 1) == "<") families[++n_families] = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
  }
}

# ------------------------------------------------------------------ writing

function begin(name, title, list) {
  file = out "/" name ".3"
  put(".\\\" Written by mk/manual.awk from include/" header ": change that.")
  put(".TH " toupper(name) " 3 \"\" \"muster " version "\" \"muster\"")
  put(".nr HY 0\n.nh\n.ad l\n.SH NAME\n" list " \\- " roff(title))
}
function finish(name) {
  put(".SH SEE ALSO\n" also)
  close(file)
}
function prototypes(i,   k) {
  put(".EX")
  for (k = 1; k <= kept_sources[i]; k++) put("\\fB" roff(kept_source[i, k]) "\\fR")
  put(".EE")
}
function description(i,   k, lines, n) {
  if (kept_sources[i]) { put(".PP"); prototypes(i) }
  if (kept_sources[i]) put(".RS 4")
  n = kept_texts[i]
  for (k = 1; k <= n; k++) lines[k] = kept_text[i, k]
  prose(lines, n)
  for (k = 1; k <= kept_sources[i]; k++) if (kept_note[i, k] != "") put(".PP\n" roff(kept_note[i, k]))
  if (kept_sources[i]) put(".RE")
  if (kept_constants[i]) enumeration(i)
}
# Of a table's rows: the type, what each constant means, and those that mean nothing but their name.
function enumeration(i,   k, plain) {
  put(".PP\n.B enum " kept_name[i, 1])
  put(".RS 4")
  for (k = 1; k <= kept_constants[i]; k++)
    if (kept_meaning[i, k] != "") put(".TP\n.B " roff(kept_constant[i, k]) "\n" roff(kept_meaning[i, k]))
    else plain = plain (plain == "" ? "" : ", ") kept_constant[i, k]
  if (plain != "") put(".PP\n" roff(plain))
  put(".RE")
}
function listed(i, name,   k) {
  for (k = 1; k <= kept_names[i]; k++) print kept_name[i, k], name
}
function body(from, to, s, name,   i, any) {
  put(".SH SYNOPSIS\n.B #include <" header ">")
  for (i = from; i <= to; i++)
    if (kept_section[i] == s && kept_kind[i] == "function" && kept_sources[i]) { put(".PP"); prototypes(i) }
  put(".SH DESCRIPTION")
}

END {
  keep()
  # The header's first sentence is the title; the rest of its comment begins the description.
  title = heads[1]
  sub(/^[a-z_.]+: */, "", title)
  for (i = 2; i <= n_heads && heads[i] != ""; i++) title = title " " heads[i]
  start = i
  rest = title
  if (match(title, /\. [A-Z]/)) { rest = substr(title, RSTART + 2); title = substr(title, 1, RSTART - 1) } else rest = ""
  sub(/\.$/, "", title)
  n = 0
  if (rest != "") beginning[++n] = rest
  for (i = start; i <= n_heads; i++) { beginning[++n] = heads[i]; find_macros(heads[i]) }

  list = page
  if (by == "page")
    for (i = 1; i <= n_kept; i++)
      if (kept_kind[i] == "function")
        for (k = 1; k <= kept_names[i]; k++) list = list ", " kept_name[i, k]
  begin(page, title, list)
  if (by == "page") body(1, n_kept, 0, page)
  else put(".SH SYNOPSIS\n.B #include <" header ">\n.SH DESCRIPTION")
  prose(beginning, n)
  print page, page
  if (by == "page") {
    for (s = 0; s <= n_sections; s++) {
      if (s) put(".SS " roff(sections[s]))
      for (i = 1; i <= n_kept; i++)
        if (kept_section[i] == s) { description(i); listed(i, page) }
    }
    for (macro in known_macros) if (is_described(macro)) print macro, page
    finish(page)
    exit
  }
  # A page a section; what comes before the first is a page too.
  for (s = 0; s <= n_sections; s++) {
    name = ""
    for (i = 1; i <= n_kept && name == ""; i++) if (kept_section[i] == s) name = kept_first[i]
    if (name == "") continue
    pages = pages (pages == "" ? "" : ",\n") ".BR " name " (3)"
    page_of[s] = name
  }
  put(".SH PAGES")
  for (s = 0; s <= n_sections; s++)
    if (s in page_of) put(".TP\n.BR " page_of[s] " (3)\n" roff(s ? sections[s] : "results and their words"))
  finish(page)
  also = ".BR " page " (3)" (also == "" ? "" : ",\n" also)
  for (s = 0; s <= n_sections; s++) {
    if (!(s in page_of)) continue
    list = ""
    for (i = 1; i <= n_kept; i++)
      if (kept_section[i] == s && kept_kind[i] == "function")
        for (k = 1; k <= kept_names[i]; k++) list = list (list == "" ? "" : ", ") kept_name[i, k]
    begin(page_of[s], s ? sections[s] : "results and their words", list)
    body(1, n_kept, s, page_of[s])
    for (i = 1; i <= n_kept; i++)
      if (kept_section[i] == s) { description(i); listed(i, page_of[s]) }
    finish(page_of[s])
  }
}
