#!/usr/bin/env python3
"""bench.py: what muster bench writes, held against plain scripts.

check FILE.json WHAT...     complete, every figure positive, finite and in order, of every WHAT; prints how many
make NAME                   writes old.json and new.json: NAME is a seed, or `crossing`
compare OLD NEW PERCENT     what became slower or faster, as --compare prints it without the times
svg FILE.svg FILE.json      well-formed, self-contained, every figure where it belongs
csv FILE.csv FILE.json      the same figures
"""
import csv
import json
import math
import random
import re
import sys
import xml.etree.ElementTree as xml

FIGURE = "what how blocks groups threads n bytes min median max".split()
KEY = FIGURE[:6]


def load(path):
    return json.load(open(path))


def key(f):
    return tuple(f[k] for k in KEY)


def check(path, *whats):
    run = load(path)
    assert set(run) == {"schema", "version", "commit", "date", "device", "method", "left_out", "figures"}, set(run)
    assert run["schema"] == "muster-bench/1" and run["method"]["unit"] == "ns" and run["method"]["runs"] >= 1
    device = "name driver is_cpu compute_capability multiprocessors clock_mhz seen_mhz peak_bytes_per_ns"
    assert set(run["device"]) == set(device.split())
    assert run["device"]["clock_mhz"] > 0 and run["device"]["seen_mhz"] > 0 and run["device"]["multiprocessors"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run["date"])
    for f in run["figures"]:
        assert set(f) == set(FIGURE), f
        assert all(math.isfinite(f[k]) for k in ("min", "median", "max")), f
        assert 0 < f["min"] <= f["median"] <= f["max"], f
    assert len({key(f) for f in run["figures"]}) == len(run["figures"])
    for f in run["left_out"]:
        assert set(f) == {"what", "why"} and f["why"]
    assert {f["what"] for f in run["figures"]} | {f["what"] for f in run["left_out"]} == set(whats)
    print(len(run["figures"]), len(run["left_out"]))


def figure(what, how, median, blocks=0, threads=0, n=0, size=0):
    return dict(what=what, how=how, blocks=blocks, groups=1 if blocks else 0, threads=threads, n=n, bytes=size,
                min=median * 0.9, median=median, max=median * 1.1)


def run(figures):
    return dict(schema="muster-bench/1", version="0", commit="0", date="2000-01-01T00:00:00Z",
                device=dict(name="GPU <&> \"one\"", driver="1", is_cpu=False, compute_capability=90, multiprocessors=8,
                            clock_mhz=1, seen_mhz=1, peak_bytes_per_ns=100), method=dict(runs=9, unit="ns"),
                left_out=[], figures=figures)


def make(name):
    if name == "crossing":  # the boundary is cheaper at 4 blocks, dearer at 8, cheaper from 16 on
        old = [figure("grid", "muster", t, b, 128) for b, t in ((2, 500), (4, 700), (8, 520), (16, 555), (32, 900))]
        old += [figure("boundary", "in a graph", 555, b, 128) for b in (2, 4, 8, 16, 32)]
        old += [figure("boundary", "in a stream", 3600, b, 128) for b in (2, 4, 8, 16, 32)]
        old += [figure("reduce", "sum f32, in a graph", 1000 + n / 50, n=n, size=4 * n) for n in (1024, 4096, 16384)]
        new = old
    else:
        rng = random.Random(int(name))
        old, new = [], []
        for i in range(rng.randrange(1, 60)):
            f = figure(rng.choice(("grid", "fence", "scan", "atomic")), f"way, {i}", 10 ** rng.uniform(-3, 9),
                       rng.choice((0, 2, 132)), rng.choice((0, 128)), rng.choice((0, 7, 1 << 30)))
            g = figure(f["what"], f["how"], f["median"] * rng.choice((0.5, 0.94, 0.96, 1, 1, 1, 1.04, 1.06, 1.3, 20)),
                       f["blocks"], f["threads"], f["n"])
            if rng.random() < 0.9 or not old:
                old.append(f)
            if rng.random() < 0.9 or not new:
                new.append(g)
        rng.shuffle(new)
    json.dump(run(old), open("old.json", "w"))
    json.dump(run(new), open("new.json", "w"), indent=1)


def compare(old, new, percent):
    old, new = load(old)["figures"], {key(f): f for f in load(new)["figures"]}
    limit, both, slower, faster = 1 + float(percent) / 100, 0, 0, 0
    for a in old:
        b = new.get(key(a))
        if not b:
            continue
        both += 1
        if b["median"] > a["median"] * limit:
            slower += 1
            print(f"slower {a['what']}, {a['how']}")
        elif a["median"] > b["median"] * limit:
            faster += 1
            print(f"faster {a['what']}, {a['how']}")
    print(f"{both} figures, {slower} slower and {faster} faster by more than {percent} %" if both else "nothing")
    sys.exit(3 if both == 0 else slower > 0)


def svg(path, source):
    text = open(path).read()
    root = xml.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == space + "svg" and len(text) < 32768
    assert not re.search(r"<script|<image|href|url\(|@import|@font-face", text)
    assert "prefers-color-scheme:dark" in text
    x, y, width, height = map(float, root.get("viewBox").split())
    figures = load(source)["figures"]
    drawn = [[(math.log2(f["blocks"]), f["median"]) for f in figures if f["what"] == "grid"],
             [(math.log2(f["n"]), f["bytes"] / f["median"]) for f in figures if f["bytes"] and "graph" in f["how"]]]
    charts = root.findall(space + "g")
    drawn = [d for d in drawn if d]
    assert len(charts) == len(drawn)
    for chart, points in zip(charts, drawn):
        top = float(chart.get("transform").split()[1].rstrip(")"))
        circles = sorted((float(c.get("cx")), float(c.get("cy"))) for c in chart.iter(space + "circle"))
        assert len(circles) == len(points), (len(circles), len(points))
        # columns and rows are linear in x and y: two points fix each line, the others have to lie on it
        columns = sorted({(a, round(b, 9)) for (a, _), (b, _) in zip(circles, sorted(points))})
        for (a, p), (b, q), (c, r) in zip(columns, columns[1:], columns[2:]):
            if q > p and r > q:
                assert abs((b - a) / (q - p) - (c - b) / (r - q)) < 0.5 / min(q - p, r - q), (columns,)
        rows = sorted(c for _, c in circles)
        values = sorted((v for _, v in points), reverse=True)
        slope = (rows[-1] - rows[0]) / (values[0] - values[-1])
        for c, v in zip(rows, values):
            assert abs(rows[0] + (values[0] - v) * slope - c) < 0.2, (c, v)
        for c in circles:
            assert x <= c[0] <= x + width and y <= c[1] + top <= y + height
    for t in root.iter(space + "text"):
        assert x <= float(t.get("x")) <= width and t.text
    print("drawn", *[len(d) for d in drawn])


def same_csv(path, source):
    rows = list(csv.DictReader(open(path, newline="")))
    run = load(source)
    assert len(rows) == len(run["figures"])
    for row, f in zip(rows, run["figures"]):
        assert row["device"] == run["device"]["name"] and row["commit"] == run["commit"]
        for k in FIGURE:
            name = k + "_ns" if k in ("min", "median", "max") else k
            same = row[name] == f[k] if isinstance(f[k], str) else math.isclose(float(row[name]), f[k], rel_tol=1e-8)
            assert same, (k, row, f)


{"check": check, "make": make, "compare": compare, "svg": svg, "csv": same_csv}[sys.argv[1]](*sys.argv[2:])
