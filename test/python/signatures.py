"""signatures.py CLANG INCLUDE: the tables of muster.py against what clang reads in muster.h: every function with its
parameters, every struct with its members' offsets, every enumeration with its values."""
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import muster

clang, include = sys.argv[1:]
if not clang:
    print("no clang to read muster.h with")
    sys.exit(77)

wrong = []


def expect(good, what):
    if not good:
        wrong.append(what)


source = "#include <muster.h>\n"
tree = json.loads(subprocess.run([clang, "-x", "c", "-std=c11", "-I", include, "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"],
                                 input=source, capture_output=True, text=True, check=True).stdout)
functions = {node["name"]: node for node in tree["inner"]
             if node["kind"] == "FunctionDecl" and node["name"].startswith("muster_")}
records = {node["name"]: node for node in tree["inner"]
           if node["kind"] == "RecordDecl" and node.get("name", "").startswith("muster_") and "inner" in node}
enums = {node["name"]: node for node in tree["inner"]
         if node["kind"] == "EnumDecl" and node.get("name", "").startswith("muster_")}

NUMBERS = {"int": ctypes.c_int, "unsigned int": ctypes.c_uint32, "unsigned long": ctypes.c_uint64,
           "unsigned char": ctypes.c_uint8, "char": ctypes.c_char, "void": None, "size_t": ctypes.c_size_t,
           "double": ctypes.c_double, "uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64}


def as_ctypes(c):
    c = c.replace("const ", "").replace("struct ", "").strip()
    if "(*)" in c:
        result, parameters = c.split("(*)")
        return ctypes.CFUNCTYPE(as_ctypes(result), *map(as_ctypes, parameters.strip("()").split(",")))
    if c.endswith("*"):
        base = c[:-1].strip()
        if base == "char":
            return ctypes.c_char_p
        if base == "void" or base.startswith("muster_") and "*" not in base and base not in records:
            return ctypes.c_void_p
        return ctypes.POINTER(as_ctypes(base))
    if c.replace("enum ", "") in enums:
        return ctypes.c_int
    return getattr(muster, c) if c in records else NUMBERS[c]


def plain(node_type):
    return node_type.get("desugaredQualType", node_type["qualType"])


# Functions
expect(set(functions) == set(muster._FUNCTIONS), "functions: %s" % (set(functions) ^ set(muster._FUNCTIONS)))
for name, node in functions.items():
    parameters = [as_ctypes(plain(one["type"])) for one in node.get("inner", []) if one["kind"] == "ParmVarDecl"]
    result = as_ctypes(node["type"]["qualType"].split("(")[0])
    expect((result, parameters) == muster._FUNCTIONS.get(name), "%s: %s %s, not %s" % (
        name, result, parameters, muster._FUNCTIONS.get(name)))

# Enumerations and structs: by a program that includes the header.
table = {structure.__name__: structure for structure in muster._STRUCTURES}
expect(set(table) == set(records), "structs: %s" % (set(table) ^ set(records)))
expect(set(enums) == set(muster._CONSTANTS), "enumerations: %s" % (set(enums) ^ set(muster._CONSTANTS)))
lines, expected = [], []
for name, node in enums.items():
    names = [one["name"] for one in node["inner"] if one["kind"] == "EnumConstantDecl"]
    expect(names == list(muster._CONSTANTS[name]), "%s: %s" % (name, names))
    for constant in names:
        lines.append('printf("%s %%d\\n", (int)%s);' % (constant, constant))
        expected.append("%s %d" % (constant, muster._CONSTANTS[name].get(constant, -1)))
for name, node in records.items():
    members = [one["name"] for one in node["inner"] if one["kind"] == "FieldDecl"]
    expect(members == [field for field, _ in table[name]._fields_], "%s: %s" % (name, members))
    lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
    expected.append("%s %d" % (name, ctypes.sizeof(table[name])))
    for member in members:
        field = getattr(table[name], member)
        lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof((%s){0}.%s));' % ((name, member) * 3))
        expected.append("%s.%s %d %d" % (name, member, field.offset, field.size))
with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "layout")
    subprocess.run([clang, "-std=c11", "-I", include, "-x", "c", "-", "-o", program], check=True, text=True,
                   input=source + "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
expect(len(expected) > 100, "too little was compared")
wrong += ["%s, and in muster.py %s" % pair for pair in zip(said, expected) if pair[0] != pair[1]]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
