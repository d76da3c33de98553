"""muster.py without NumPy: every operation and element type against Python's own arithmetic, and what goes wrong."""
import array
import ctypes
import itertools
import math
import random
import struct
import unittest

import muster

INTEGERS = {"s8": "b", "s16": "h", "s32": "i", "s64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
FLOATS = {"f32": "f", "f64": "d"}
SCANNED = ["u32", "s32", "u64", "s64", "f32", "f64"]


def wrap(value, elem):
    """An integer as the type holds it."""
    bits = int(elem[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if elem[0] == "s" and value >> (bits - 1) else value


def sample(elem, n, seed=1):
    draw = random.Random(seed)
    if elem in INTEGERS:
        bits = int(elem[1:])
        low = -(1 << (bits - 1)) if elem[0] == "s" else 0
        return [draw.randint(low, low + (1 << bits) - 1) for _ in range(n)]
    return [draw.randint(-64, 64) / 4 for _ in range(n)]  # exact in every float type, and so are their sums


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = muster.open()

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def test_the_device_says_what_it_is(self):
        info = self.device.info
        self.assertEqual((info["is_cpu"], info["compute_capability"], info["multiprocessors"]), (1, 90, 132))
        self.assertIn("H200", info["name"])

    def test_arrays_come_back_as_they_went(self):
        for elem in muster.ELEMS:
            values = sample(elem if elem in INTEGERS else "f32", 101)
            with self.subTest(elem=elem):
                there = self.device.array(values, elem)
                self.assertEqual((there.elem, len(there), there.tolist()), (elem, 101, values))
        for data in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
            self.assertEqual(self.device.array(data).tobytes(), b"abc")
        for elem, letter in list(INTEGERS.items()) + list(FLOATS.items()):
            there = self.device.array(array.array(letter, sample(elem, 5)))
            self.assertEqual((there.elem, there.tolist()), (elem, sample(elem, 5)))
        self.assertEqual(self.device.array(memoryview(struct.pack("<2e", 1.5, -2)).cast("B"), "f16").tolist(), [1.5, -2.0])
        self.assertEqual(self.device.array([], "f32").tolist(), [])

    def test_bf16_is_rounded_to_nearest_even(self):
        x = self.device.array([1.0, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -3.0, float("inf"), float("nan")], "bf16")
        self.assertEqual(struct.unpack("<6H", x.tobytes()), (0x3f80, 0x3f80, 0x3f82, 0xc040, 0x7f80, 0x7fc0))

    def test_reductions(self):
        for elem in list(INTEGERS) + ["f16", "bf16", "f32", "f64"]:
            for n in (0, 1, 33, 5000):
                x = sample(elem if elem in INTEGERS else "f32", n)
                wide = elem[0] + "64" if elem in INTEGERS else elem
                with self.subTest(elem=elem, n=n):
                    total = sum(x)
                    self.assertEqual(self.device.reduce("sum", x, elem), wrap(total, wide) if elem in INTEGERS else total)
                    if n:
                        self.assertEqual(self.device.reduce("min", x, elem), min(x))
                        self.assertEqual(self.device.reduce("max", x, elem), max(x))
                        self.assertEqual(self.device.reduce("argmin", x, elem), x.index(min(x)))
                        self.assertEqual(self.device.reduce("argmax", x, elem), x.index(max(x)))
                    if elem in INTEGERS:
                        both = any_ = 0
                        for i, value in enumerate(x):
                            both, any_ = (value if i == 0 else both & value), any_ | value
                        self.assertEqual(self.device.reduce("or", x, elem), any_)
                        if n:
                            self.assertEqual(self.device.reduce("and", x, elem), both)
        self.assertEqual(self.device.reduce("product", [3, 5, 7], "s32"), 105)
        self.assertEqual(self.device.reduce("sum_of_squares", [3.0, 4.0], "f64"), 25.0)
        self.assertEqual(self.device.reduce("norm", [3.0, 4.0], "f64"), 5.0)
        self.assertEqual(self.device.reduce("argmin", [], "f32"), 2 ** 64 - 1)

    def test_modes_and_nans(self):
        x = array.array("f", [1e8, 1.0, -1e8] * 1000)
        self.assertEqual(self.device.reduce("sum", x, mode="compensated"), 1000.0)
        reproducible = {self.device.reduce("sum", x, mode="reproducible") for _ in range(3)}
        self.assertEqual(len(reproducible), 1)
        y = [1.0, float("nan"), -2.0]
        self.assertTrue(math.isnan(self.device.reduce("min", y, "f32")))
        self.assertEqual(self.device.reduce("min", y, "f32", nan="ignore"), -2.0)

    def test_dot(self):
        for elem in ("f32", "f64", "s32", "u8"):
            x, y = sample(elem, 3000, 1), sample(elem, 3000, 2)
            expected = sum(a * b for a, b in zip(x, y))
            if elem in INTEGERS:
                expected = wrap(expected, elem[0] + "64")
            self.assertEqual(self.device.dot(x, y, elem), expected)
        self.assertEqual(self.device.dot(array.array("d"), array.array("d")), 0)

    def test_scan(self):
        for elem in SCANNED:
            for n in (0, 1, 2000, 40000):
                x = sample(elem, n)
                sums = [wrap(s, elem) if elem in INTEGERS else s for s in itertools.accumulate(x)]
                with self.subTest(elem=elem, n=n):
                    self.assertEqual(self.device.scan(x, elem).tolist(), sums)
                    self.assertEqual(self.device.scan(x, elem, exclusive=True).tolist(), ([0] + sums)[:n])
        for elem in list(INTEGERS) + list(FLOATS) + ["f16", "bf16"]:
            x = sample(elem if elem in INTEGERS else "f32", 3000)
            with self.subTest(elem=elem):
                self.assertEqual(self.device.scan(x, elem, op="min").tolist(), list(itertools.accumulate(x, min)))
                self.assertEqual(self.device.scan(x, elem, op="max", exclusive=True).tolist()[1:],
                                 list(itertools.accumulate(x, max))[:-1])
        self.assertEqual(self.device.scan([1.0, float("nan"), 3.0], "f32", op="max", nan="ignore").tolist(), [1.0, 1.0, 3.0])

    def test_segments(self):
        x, offsets = sample("s32", 6000), [0, 10, 10, 5500, 6000]
        pieces = [x[a:b] for a, b in zip(offsets, offsets[1:])]
        self.assertEqual(self.device.reduce_segments("sum", x, offsets, "s32").tolist(), [sum(piece) for piece in pieces])
        self.assertEqual(self.device.reduce_segments("max", x, offsets, "s32").tolist(),
                         [max(piece, default=-2 ** 31) for piece in pieces])
        self.assertEqual(self.device.reduce_segments("sum", x, [], "s32").tolist(), [])

    def test_select(self):
        for elem in ("u8", "s16", "f32", "f64"):
            x, mask = sample(elem, 9000), [i * i % 3 for i in range(9000)]
            chosen, others = self.device.select(x, mask, elem, rest=True)
            self.assertEqual(chosen.tolist(), [value for value, m in zip(x, mask) if m])
            self.assertEqual(others.tolist(), [value for value, m in zip(x, mask) if not m])
            self.assertEqual(self.device.select(x, bytes(mask), elem).tolist(), chosen.tolist())
        self.assertEqual(self.device.select([], [], "u8").tolist(), [])
        self.assertRaises(ValueError, self.device.select, b"abc", b"ab")

    def test_histogram(self):
        text = b"the quick brown fox jumps over the lazy dog" * 100
        counts = self.device.histogram(text, 256)
        self.assertEqual((counts.elem, counts.tolist()), ("u64", [text.count(bytes([i])) for i in range(256)]))
        x = [value % 3000 for value in sample("u32", 4000)]
        self.assertEqual(self.device.histogram(x, 1000, "u32").tolist(), [x.count(i) for i in range(1000)])

    def test_histogram_of_ranges_and_weights(self):
        x, edges = [0.5, 1.0, 2.5, 3.0, float("nan"), -1.0], [0.0, 1.0, 3.0, 4.0]
        self.assertEqual(self.device.histogram(x, elem="f32", edges=edges).tolist(), [1, 2, 1])
        weights = array.array("f", [1, 2, 4, 8, 16, 32])
        self.assertEqual(self.device.histogram(x, elem="f32", edges=edges, weights=weights).tolist(), [1.0, 6.0, 8.0])
        self.assertEqual(self.device.histogram(b"\0\2\2\1", 3, weights=array.array("I", [1, 2, 3, 4])).tolist(), [1, 4, 5])
        self.assertRaises(TypeError, self.device.histogram, b"abc")
        self.assertRaises(ValueError, self.device.histogram, b"abc", 3, weights=array.array("f", [1]))
        self.assertRaises(muster.Error, self.device.histogram, b"abc", 3, weights=array.array("h", [1, 2, 3]))

    def test_map(self):
        for elem in muster.ELEMS:
            x, y = sample(elem if elem in INTEGERS else "f32", 77, 1), sample(elem if elem in INTEGERS else "f32", 77, 2)
            if elem in ("f16", "bf16"):  # small ones: their products are exact, too
                x, y = [value // 8 for value in x], [value // 8 for value in y]
            at = wrap if elem in INTEGERS else lambda value, _: value
            for op, a, expected in (("add", None, [p + q for p, q in zip(x, y)]), ("subtract", None, [p - q for p, q in zip(x, y)]),
                                    ("multiply", None, [p * q for p, q in zip(x, y)]), ("axpy", 3, [3 * p + q for p, q in zip(x, y)])):
                with self.subTest(elem=elem, op=op):
                    self.assertEqual(self.device.map(op, x, y, elem, a=a).tolist(), [at(value, elem) for value in expected])
            self.assertEqual(self.device.map("scale", x, elem=elem, a=2).tolist(), [at(2 * value, elem) for value in x])
            self.assertEqual(self.device.map("fill", elem=elem, n=5, a=7).tolist(), [7] * 5)

    def test_convert(self):
        x = [1.75, -3.5, 300.0, float("nan"), float("-inf")]
        self.assertEqual(self.device.convert(x, "u8", "f32").tolist(), [1, 0, 255, 0, 0])
        self.assertEqual(self.device.convert(x, "s16", "f64").tolist(), [1, -3, 300, 0, -32768])
        self.assertEqual(self.device.convert([1e6, 0.1], "f16", "f64").tolist(), [float("inf"), struct.unpack("e", struct.pack("e", 0.1))[0]])
        for elem in muster.ELEMS:
            self.assertEqual(self.device.convert([0, 5, 100], elem, "s32").tolist(), [0, 5, 100])
            self.assertEqual(self.device.convert([0, 5, 100], "u64", elem).tolist(), [0, 5, 100])

    def test_workspaces_are_used_again(self):
        x = self.device.array(sample("f32", 1000), "f32")
        for _ in range(3):
            self.assertEqual(self.device.reduce("sum", x), sum(sample("f32", 1000)))
        large = sample("f32", 100000)
        self.assertEqual(self.device.reduce("sum", large, "f32"), sum(large))
        self.assertEqual(self.device.reduce("sum", x), sum(sample("f32", 1000)))

    def test_what_the_library_refuses_is_an_error_with_its_words(self):
        with self.assertRaises(muster.Error) as caught:
            self.device.reduce("norm", [1, 2], "s32")
        self.assertEqual((caught.exception.name, caught.exception.result), ("MUSTER_ERROR_ARGUMENT", 10))
        self.assertIn("no such operation of elements of type s32", str(caught.exception))
        with self.assertRaises(muster.Error) as caught:
            self.device.histogram(b"x", 257)
        self.assertIn("257", str(caught.exception))
        for call in (lambda: self.device.scan(b"bytes"), lambda: self.device.histogram([1.0], 4, "f32"),
                     lambda: self.device.histogram(b"x", 0), lambda: self.device.map("scale", [1], elem="u32"),
                     lambda: self.device.map("add", [1], elem="u32")):
            self.assertRaises(muster.Error, call)
        # after an error all goes on
        self.assertEqual(self.device.reduce("sum", [1, 2], "s32"), 3)

    def test_what_cannot_be_meant_is_refused_before(self):
        for error, call in (
                (ValueError, lambda: self.device.reduce("mean", b"x")),
                (ValueError, lambda: self.device.reduce("sum", b"x", mode="slow")),
                (ValueError, lambda: self.device.reduce("sum", b"x", nan="maybe")),
                (ValueError, lambda: self.device.array([1], "f8")),
                (ValueError, lambda: self.device.array([256], "u8")),
                (ValueError, lambda: self.device.array([1.5], "u8")),
                (ValueError, lambda: self.device.array(["a"], "f32")),
                (ValueError, lambda: self.device.array(b"abc", "u16")),
                (ValueError, lambda: self.device.array(memoryview(b"abcd")[::2])),
                (TypeError, lambda: self.device.array([1, 2])),
                (TypeError, lambda: self.device.array(array.array("f", [1]), "f64")),
                (TypeError, lambda: self.device.dot(array.array("f", [1]), array.array("d", [1]))),
                (ValueError, lambda: self.device.dot(b"abc", b"ab")),
                (ValueError, lambda: self.device.map("add", b"abc", b"ab")),
                (TypeError, lambda: self.device.map("fill", a=1)),
                (ValueError, lambda: self.device.histogram(b"x", -1)),
                (ValueError, lambda: self.device.histogram(b"x", 1 << 32)),
                (TypeError, lambda: self.device.reduce("sum", 7))):
            self.assertRaises(error, call)

    def test_arrays_belong_to_their_device(self):
        with muster.open() as other:
            theirs = other.array(b"abc")
            self.assertRaises(ValueError, self.device.reduce, "sum", theirs)
        self.assertRaises(ValueError, theirs.tobytes)
        self.assertRaises(ValueError, other.array, b"abc")
        theirs.free()  # too late, and harmless
        other.close()
        mine = self.device.array(b"abc")
        mine.free()
        mine.free()
        self.assertRaises(ValueError, self.device.reduce, "sum", mine)


class Opening(unittest.TestCase):
    def test_no_such_device(self):
        with self.assertRaises(muster.Error) as caught:
            muster.open("cpu:h300")
        self.assertEqual(caught.exception.name, "MUSTER_ERROR_NO_DEVICE")
        self.assertIn("h300", str(caught.exception))

    def test_the_rest_of_the_library(self):
        self.assertGreater(muster.lib.muster_instruction_count(), 100)
        profile = muster.muster_profile(size=ctypes.sizeof(muster.muster_profile))
        names = []
        while muster.lib.muster_profile_get(len(names), ctypes.byref(profile)) == 0:
            names.append(profile.name)
        self.assertEqual(len(names), muster.lib.muster_profile_count())
        self.assertIn(b"h200", names)


if __name__ == "__main__":
    unittest.main()
