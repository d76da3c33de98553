"""muster.py with NumPy: its arrays as operands, Arrays as its arrays."""
import os
import sys

here = os.path.dirname(os.path.realpath(__file__))
sys.path = [path for path in sys.path if os.path.realpath(path) != here]  # this file has NumPy's name
try:
    import numpy
except ModuleNotFoundError:
    print("NumPy is not installed: its part of muster.py is not tested")
    sys.exit(77)

import muster  # noqa: E402

with muster.open() as device:
    draw = numpy.random.default_rng(1)
    for elem in muster.ELEMS:
        if elem == "bf16":
            continue
        dtype = numpy.dtype({"s": "i", "u": "u", "f": "f"}[elem[0]] + str(int(elem[1:]) // 8))
        x = draw.integers(0, 100, 5000).astype(dtype)
        back = numpy.asarray(device.array(x))
        assert back.dtype == dtype and (back == x).all(), elem
        assert device.reduce("max", x) == x.max(), elem
        assert device.array(x).elem == elem
    x = draw.integers(-50, 50, 5000).astype("f4")
    assert device.dot(x, x) == float((x.astype("f8") ** 2).sum())
    assert (numpy.asarray(device.scan(x)) == numpy.cumsum(x)).all()
    assert numpy.asarray(device.scan(x), dtype="f8").dtype == "f8"
    pixels = draw.integers(0, 256, (60, 80)).astype("u1")
    assert (numpy.asarray(device.histogram(pixels, 256)) == numpy.bincount(pixels.ravel(), minlength=256)).all()
    assert (numpy.asarray(device.map("axpy", x, x, a=2)) == 3 * x).all()
    for wrong, error in ((pixels[:, ::2], ValueError), (x.astype("c8"), TypeError), (x.astype(">f4"), TypeError),
                         (numpy.array(["a"]), TypeError)):
        try:
            device.array(wrong)
        except error:
            continue
        raise AssertionError("no %s of %r" % (error.__name__, wrong.dtype))
