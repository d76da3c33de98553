#!/usr/bin/env python3
"""schema.py FILE: whether a report is what its format says, by the ending of its name; prints what is in it."""
import json
import sys
import xml.etree.ElementTree as xml


def keys(value, names, optional=()):
    assert set(names) <= set(value) <= set(names) | set(optional), sorted(set(value) ^ set(names))


def muster(report):
    keys(report, "schema verdict reasons program program_exit gpu seed ptx launches schedules findings".split())
    assert report["schema"] == "muster-report/1"
    assert report["verdict"] in ("clean", "findings", "inconclusive", "failed")
    keys(report["ptx"], ("target", "version"), ("lineinfo",))
    keys(report["schedules"], ("asked", "run", "exhaustive"))
    for f in report["findings"]:
        keys(f, "rule severity process kernel launch relation message count missing replay accesses waiting residency".split())
        assert f["severity"] in ("error", "warning", "note")
        for a in f["accesses"]:
            keys(a, "kind space buffer offset bytes block thread file line column inlined_at ptx_line".split(), ("function",))
        for w in f["waiting"]:
            keys(w, "block thread on for file line ptx_line".split())
        if f["missing"]:
            keys(f["missing"], "what text file line ptx_line".split())
        if f["residency"]:
            keys(f["residency"], "needed fits limit launch".split())
    print(report["verdict"], len(report["findings"]), report["findings"][0]["process"] if report["findings"] else "")


def place(locations):
    for l in locations[:1]:
        if "physicalLocation" in l:
            p = l["physicalLocation"]
            assert p["region"]["startLine"] >= 1 and p["region"].get("startColumn", 1) >= 1
            return "%s %d" % (p["artifactLocation"]["uri"], p["region"]["startLine"])
    return "- -"


def sarif(log):
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] and len(rules) > 30
    for rule in rules:
        assert rule["shortDescription"]["text"] and rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for i in run["invocations"]:
        assert isinstance(i["executionSuccessful"], bool)
        for n in i["toolExecutionNotifications"]:
            assert n["level"] in ("error", "warning") and n["message"]["text"]
    for r in run["results"]:
        assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and r["level"] in ("error", "warning", "note")
        assert r["message"]["text"] and r["partialFingerprints"] and r["occurrenceCount"] >= 1
        ids = [l["id"] for l in r["relatedLocations"]]
        assert len(set(ids)) == len(ids) and all(l["message"]["text"] for l in r["relatedLocations"])
        print(r["ruleId"], place(r["locations"]), place(r["relatedLocations"]))


def junit(root):
    assert root.tag == "testsuites" and [s.tag for s in root] == ["testsuite"]
    suite = root[0]
    cases = suite.findall("testcase")
    count = {kind: sum(c.find(kind) is not None for c in cases) for kind in ("failure", "error")}
    assert int(suite.get("tests")) == len(cases)
    assert (int(suite.get("failures")), int(suite.get("errors"))) == (count["failure"], count["error"])
    assert all(c.get("name") and c.get("classname") for c in cases)
    print("tests %s failures %s errors %s" % tuple(suite.get(k) for k in ("tests", "failures", "errors")))
    for c in cases:
        for e in c:
            if e.tag != "system-out":
                print("%s%s: %s" % (e.tag, " " + e.get("type") if e.get("type") else "", e.get("message")))


name = sys.argv[1]
if name.endswith(".xml"):
    junit(xml.parse(name).getroot())
else:
    with open(name, encoding="utf-8") as f:
        value = json.load(f)
    sarif(value) if "version" in value else muster(value)
