"""Writes goldens.json: what Python makes of the inputs that the tests use.

Run with torch and NumPy installed (written with torch 2.15.0, NumPy 2.4.6):
    python3 goldens.py > goldens.json
"""
import hashlib
import json
import random

import numpy as np
import torch

TORCH = """float64 float32 float16 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
float8_e8m0fnu int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex32 complex64 complex128""".split()


def tensor(raw, dtype):
    return torch.frombuffer(bytearray(raw), dtype=getattr(torch, dtype))


def as_float64(t):
    if t.dtype in (torch.uint16, torch.uint32, torch.uint64):  # torch converts few of these
        return t.numpy().astype(np.float64)
    return t.to(torch.float64).numpy()


def text(x):
    """A float that any JSON reader takes, exactly."""
    return float(x).hex() if np.isfinite(x) else str(float(x))


def decoded(dtype):
    """SHA-256 of every code of a type as little-endian float64, NaN as 7ff8000000000000."""
    width = torch.tensor([], dtype=getattr(torch, dtype)).element_size()
    raw = np.arange(1 << 8 * width, dtype=f"<u{width}").tobytes()
    values = as_float64(tensor(raw, dtype)).astype("<f8")
    values[np.isnan(values)] = np.nan
    return hashlib.sha256(values.tobytes()).hexdigest()


def stats(raw, dtype, repeat):
    """NumPy's word on the elements of raw, over and over."""
    t = tensor(raw, dtype)
    out = {"dtype": dtype, "raw": raw.hex(), "repeat": repeat}
    if t.is_complex():
        v = t.to(torch.complex128).numpy()
        nan = np.isnan(v)
        inf = np.isinf(v) & ~nan
        zeros = v == 0
        four = [float("nan")] * 4
        finite = 0
    else:
        v = as_float64(t)
        nan, inf, zeros = np.isnan(v), np.isinf(v), v == 0
        f = np.tile(v[np.isfinite(v)].astype(np.longdouble), repeat)
        finite = len(f)
        with np.errstate(all="ignore"):
            four = [f.min(), f.max(), f.mean(), f.std()] if finite else [float("nan")] * 4
    out["min"], out["max"], out["mean"], out["std"] = map(text, four)
    out |= {"nan": int(nan.sum()) * repeat, "inf": int(inf.sum()) * repeat,
            "zeros": int(zeros.sum()) * repeat, "finite": finite}
    return out


def digest(raw, dtype, shape):
    h = hashlib.sha256(f"{dtype}\0{'x'.join(map(str, shape))}\0".encode() + raw)
    return {"dtype": dtype, "shape": shape, "raw": raw.hex(), "digest": "sha256:" + h.hexdigest()}


def main():
    rng = random.Random(20240115)
    cases = []
    for d in TORCH:
        t = torch.tensor([], dtype=getattr(torch, d))
        n = t.element_size()
        if d == "float64":  # random bits would overflow any sum of squares
            cases.append(stats(np.array([rng.gauss(3, 2) for _ in range(100)], "<f8").tobytes(), d, 97))
        elif d == "bool":
            cases.append(stats(bytes(rng.choices([0, 1], k=101)), d, 97))
        else:
            cases.append(stats(rng.randbytes(100 * n), d, 97))
        cases.append(stats(bytes(n * 3), d, 1))
    f4 = lambda *x: np.array(x, "<f4").tobytes()
    cases += [
        stats(f4(np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5), "float32", 1000),
        stats(f4(np.nan, np.nan), "float32", 3),
        stats(f4(np.inf), "float32", 1),
        stats(f4(0.1), "float32", 10000),
        stats(f4(1e8, 1e8 + 8), "float32", 5000),  # a naive sum of squares loses this
        stats(np.array([1e200], "<f8").tobytes(), "float64", 9000),  # so does its square
        stats(np.array([1.5e308, 1.7e308], "<f8").tobytes()[:8], "float64", 9000),
        stats(np.array([2**63 - 1, -(2**63), 5], "<i8").tobytes(), "int64", 3000),
        stats(np.array([2**64 - 1, 7], "<u8").tobytes(), "uint64", 3000),
        stats(np.array([1 + 2j, 0, complex(0, -0.0), complex(np.nan, np.inf), complex(np.inf, 1), complex(1, -np.inf)],
                       "<c16").tobytes(), "complex128", 1500),
    ]
    small = [d for d in TORCH if d.startswith("float8")] + ["float16", "bfloat16", "int8", "int16", "uint8", "uint16"]
    digests = [digest(f4(1, 2, 3, 4, 5, 6), "float32", [2, 3]), digest(f4(1, 2, 3, 4, 5, 6), "float32", [3, 2]),
               digest(f4(1), "float32", []), digest(f4(1), "float32", [1]), digest(b"", "int64", [0, 5]),
               digest(bytes(range(16)), "complex128", [1, 1]), digest("añ😀".encode("utf-32-le"), "<U3", [1])]
    print(json.dumps({"decoded": {d: decoded(d) for d in small}, "stats": cases, "digests": digests}, indent=1))


main()
