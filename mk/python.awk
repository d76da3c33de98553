# python.awk: muster.py from its template: the line #@api@ gives way to what the headers declare, as ctypes.
#   awk -f mk/api.awk include/muster.h | awk -v version=0.1.0 -f mk/python.awk - python/muster.py.in
BEGIN {
  FS = "\t"
  n = split("int int,char char,size_t size_t,uint8_t uint8,uint16_t uint16,uint32_t uint32,uint64_t uint64,int64_t int64,double double", rows, ",")
  for (i = 1; i <= n; i++) {
    split(rows[i], pair, " ")
    scalar[pair[1]] = "ctypes.c_" pair[2]
  }
  scalar["void *"] = scalar["void*"] = "ctypes.c_void_p"
  scalar["char *"] = "ctypes.c_char_p"
}
# The ctypes type of a C type.
function type(c,   base) {
  gsub(/const /, "", c)
  gsub(/ +\*/, " *", c)
  if (c == "void") return "None"
  if (c in scalar) return scalar[c]
  if (c ~ /\*$/) {
    base = c
    sub(/ ?\*$/, "", base)
    if (base in opaque) return "ctypes.c_void_p"
    return "ctypes.POINTER(" type(base) ")"
  }
  if (c in enumeration) return "ctypes.c_int"
  if (c in structure || c in callback) return c
  print "python.awk: no ctypes type for \"" c "\"" > "/dev/stderr"
  failed = 1
  return "None"
}
function say(line) { api = api line "\n" }
# The types of parameters, each with its name, as ctypes takes them.
function types(parameters,   list, n, i, c, text) {
  n = parameters == "void" ? 0 : split(parameters, list, ", ")
  for (i = 1; i <= n; i++) {
    c = list[i]
    sub(/[A-Za-z_0-9]+$/, "", c) # its name
    sub(/ +$/, "", c)
    text = text (i > 1 ? ", " : "") type(c)
  }
  return text
}

FNR == NR && $1 == "enum" { enumeration[$2] = 1; if ($2 != "") enums[++n_enums] = $2 }
FNR == NR && $1 == "constant" && $2 != "" { constants[$2] = constants[$2] "        \"" $3 "\": " $4 ",\n" }
FNR == NR && $1 == "struct" { opaque[$2] = 1; last_struct = $2 }
FNR == NR && $1 == "field" {
  if (!(($2) in structure)) {
    delete opaque[$2]
    structure[$2] = 1
    order[++n_structures] = $2
  }
  fields[$2] = fields[$2] "        (\"" $3 "\", " type($4) ($5 != 1 ? " * " $5 : "") "),\n"
}
FNR == NR && $1 == "function" && $5 == "exported" { functions = functions "    \"" $2 "\": (" type($3) ", [" types($4) "]),\n" }
FNR == NR && $1 == "callback" {
  callback[$2] = 1
  callbacks = callbacks $2 " = ctypes.CFUNCTYPE(" type($3) ", " types($4) ")\n"
}
FNR == NR { next }

/^#@api@$/ {
  if (functions == "") { print "python.awk: the header exports nothing" > "/dev/stderr"; failed = 1 }
  say("_CONSTANTS = {")
  for (i = 1; i <= n_enums; i++) say("    \"" enums[i] "\": {\n" constants[enums[i]] "    },")
  say("}\n")
  for (i = 1; i <= n_structures; i++)
    say("\nclass " order[i] "(ctypes.Structure):\n    _fields_ = [\n" fields[order[i]] "    ]\n")
  say("\n" callbacks)
  say("_STRUCTURES = [" join(order, n_structures) "]\n_FUNCTIONS = {\n" functions "}")
  gsub(/\n\n\n+/, "\n\n\n", api)
  printf "%s", api
  next
}
function join(list, n,   i, s) {
  for (i = 1; i <= n; i++) s = s (i > 1 ? ", " : "") list[i]
  return s
}
{
  gsub(/@version@/, version)
  major = version
  sub(/\..*/, "", major)
  gsub(/@major@/, major)
  print
}
END { exit failed }
