#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every kernel of built-in tasks on a real GPU: builds the root, the playbook and the baselines as Espalier does,
checks each against the oracle over the verify cases (two-part tolerance, poisoned outputs and workspace, guard bands,
inputs untouched, a second stream), and times it cold at the timed cases. Prints one table per task and exits with 1 if
anything fails.

Independent of Espalier's own judge on purpose: it says whether tasks/ is right, whatever the judge thinks.

usage: task_kernels_check.py [--tasks DIR] [--time N] [--tune] [--only RE] TASK...
  --time N   timed calls per kernel (0: none; default 30)
  --tune     also every value of every tunable, one at a time
  --grid     also every combination of a kernel's tunables
  --only R   only kernels whose name the regular expression R finds (the root always runs)
"""
import argparse
import concurrent.futures
import ctypes
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

NVCC = os.environ.get("NVCC", "nvcc")
BAND = 4096
U = {"f32": 2.0**-24}
FUNCTIONS = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b), "floordiv": lambda a, b: a // b,
             "log2": math.log2, "sqrt": math.sqrt}


def evaluate(expression, names):
    if not isinstance(expression, str):
        return expression
    return eval(expression, {"__builtins__": {}}, {**FUNCTIONS, **names})  # our own task files only


class Cuda:
    def __init__(self, folder):
        here = os.path.dirname(os.path.abspath(__file__))
        library = os.path.join(folder, "check_ops.so")
        subprocess.run([NVCC, "-shared", "-cudart", "shared", "-Xcompiler", "-fPIC", "-std=c++17", "-O3",
                        "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-o", library,
                        os.path.join(here, "check_ops.cu")], check=True)
        self.rt = ctypes.CDLL(self.find_runtime(), mode=ctypes.RTLD_GLOBAL)
        self.ops = ctypes.CDLL(library)

    @staticmethod
    def find_runtime():
        root = os.path.dirname(os.path.dirname(os.path.realpath(subprocess.check_output(["which", NVCC], text=True).strip())))
        for folder in ("lib64", "targets/x86_64-linux/lib"):
            path = os.path.join(root, folder, "libcudart.so.13")
            if os.path.exists(path):
                return path
        return "libcudart.so.13"

    def check(self, code, what):
        if code:
            self.rt.cudaGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(f"{what}: {self.rt.cudaGetErrorString(code).decode()}")

    def malloc(self, size):
        p = ctypes.c_void_p()
        self.check(self.rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(max(size, 1))), f"cudaMalloc({size})")
        return p.value

    def free(self, p):
        self.check(self.rt.cudaFree(ctypes.c_void_p(p)), "cudaFree")

    def sync(self):
        self.check(self.rt.cudaDeviceSynchronize(), "synchronize")


class Buffer:
    """size bytes between two guard bands; the second starts at the very next byte."""

    def __init__(self, cuda, size):
        self.cuda, self.size = cuda, size
        self.whole = cuda.malloc(size + 2 * BAND)
        self.at = self.whole + BAND
        self.copy = cuda.malloc(2 * BAND)
        cuda.check(cuda.ops.check_poison(ctypes.c_void_p(self.copy), ctypes.c_int64(2 * BAND), 5), "band")
        for side, offset in ((self.whole, 0), (self.at + size, BAND)):
            cuda.check(cuda.rt.cudaMemcpy(ctypes.c_void_p(side), ctypes.c_void_p(self.copy + offset), ctypes.c_size_t(BAND), 3), "band")

    def poison(self, seed):
        self.cuda.check(self.cuda.ops.check_poison(ctypes.c_void_p(self.at), ctypes.c_int64(self.size), seed), "poison")

    def hash(self):
        value = ctypes.c_ulonglong()
        self.cuda.check(self.cuda.ops.check_hash(ctypes.c_void_p(self.at), ctypes.c_int64(self.size), ctypes.byref(value)), "hash")
        return value.value

    def overrun(self):
        total = 0
        for side, offset in ((self.whole, 0), (self.at + self.size, BAND)):
            value = ctypes.c_ulonglong()
            self.cuda.check(self.cuda.ops.check_differences(ctypes.c_void_p(side), ctypes.c_void_p(self.copy + offset),
                                                            ctypes.c_int64(BAND), ctypes.byref(value)), "band")
            total += value.value
        return total

    def free(self):
        self.cuda.free(self.whole)
        self.cuda.free(self.copy)


class Comparison(ctypes.Structure):
    _fields_ = [("worst", ctypes.c_double), ("error2", ctypes.c_double), ("reference2", ctypes.c_double),
                ("failed", ctypes.c_ulonglong), ("nonFinite", ctypes.c_ulonglong), ("firstFailed", ctypes.c_ulonglong)]


DISTRIBUTIONS = {"normal": (0, "mean", 0.0, "stddev", 1.0), "uniform": (1, "low", 0.0, "high", 1.0),
                 "constant": (2, "value", 0.0, "value", 0.0), "heavy_tail": (3, "stddev", 1.0, "octaves", 4.0),
                 "integers": (4, "low", -8.0, "high", 8.0)}
CTYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64}


class Case:
    """Buffers and scalars of one case, and its oracle values."""

    def __init__(self, cuda, task, case, oracle):
        self.cuda, self.task, self.case = cuda, task, case
        self.names = case["parameters"]
        self.buffers, self.inputs, self.scalars = {}, [], []
        for i, a in enumerate(task["arguments"]):
            if a["kind"] == "scalar":
                value = evaluate(a["value"], self.names)
                self.scalars.append(CTYPES[a["dtype"]](int(value) if a["dtype"][0] == "i" else value))
                continue
            count = math.prod(int(evaluate(d, self.names)) for d in a["shape"])
            buffer = Buffer(cuda, 4 * count)
            self.buffers[a["name"]] = buffer
            if a["kind"] == "output":
                self.output, self.count = buffer, count
                continue
            values = case.get("values", {}).get(a["name"], a.get("values", {"distribution": "normal"}))
            code, first, d1, second, d2 = DISTRIBUTIONS[values["distribution"]]
            self.inputs.append(buffer)
            cuda.check(cuda.ops.check_fill(ctypes.c_void_p(buffer.at), ctypes.c_int64(count), ctypes.c_uint64(1000 + i), code,
                                           ctypes.c_double(values.get(first, d1)), ctypes.c_double(values.get(second, d2))), "fill")
        self.hashes = [b.hash() for b in self.inputs]
        self.ref, self.scale = cuda.malloc(8 * self.count), cuda.malloc(8 * self.count)
        self.oracle_ms = self.run_oracle(oracle, self.ref, self.scale, 0, self.count)
        self.chunks_differ = self.check_chunks(oracle) if self.count <= 1 << 22 else 0

    def run_oracle(self, oracle, ref, scale, first, count):
        start, stop = event(self.cuda), event(self.cuda)
        self.cuda.rt.cudaEventRecord(start, None)
        code = oracle(*[ctypes.c_void_p(b.at) for b in self.inputs], *self.scalars, ctypes.c_void_p(ref), ctypes.c_void_p(scale),
                      ctypes.c_int64(first), ctypes.c_int64(count), None)
        self.cuda.rt.cudaEventRecord(stop, None)
        self.cuda.check(code, "oracle")
        self.cuda.sync()
        return elapsed(self.cuda, start, stop)

    def check_chunks(self, oracle):
        """The oracle over ranges that start and end anywhere must give the same bits."""
        ref, scale = self.cuda.malloc(8 * self.count), self.cuda.malloc(8 * self.count)
        first, step = 0, max(1, self.count // 7 - 3)
        while first < self.count:
            n = min(step, self.count - first)
            self.run_oracle(oracle, ref + 8 * first, scale + 8 * first, first, n)
            first += n
        total = 0
        for a, b in ((ref, self.ref), (scale, self.scale)):
            value = ctypes.c_ulonglong()
            self.cuda.check(self.cuda.ops.check_differences(ctypes.c_void_p(a), ctypes.c_void_p(b), ctypes.c_int64(8 * self.count),
                                                            ctypes.byref(value)), "chunks")
            total += value.value
        self.cuda.free(ref)
        self.cuda.free(scale)
        return total

    def workspace_bytes(self, kernel):
        if kernel.workspace is None:
            return 0
        return kernel.workspace(*self.scalars)

    def call(self, kernel, workspace, stream):
        pointers, scalars = iter(self.buffers.values()), iter(self.scalars)
        arguments = [next(scalars) if a["kind"] == "scalar" else ctypes.c_void_p(next(pointers).at) for a in self.task["arguments"]]
        return kernel.entry(*arguments, ctypes.c_void_p(workspace.at if workspace else None),
                            ctypes.c_size_t(workspace.size if workspace else 0), stream)

    def verify(self, kernel, seed):
        """One checked call. Returns (worst element error, norm error), each as a part of its bound, or raises."""
        size = self.workspace_bytes(kernel)
        workspace = Buffer(self.cuda, size) if size else None
        if workspace:
            workspace.poison(seed + 1)
        self.output.poison(seed)
        stream = ctypes.c_void_p()
        self.cuda.check(self.cuda.rt.cudaStreamCreateWithFlags(ctypes.byref(stream), 1), "stream")
        self.cuda.check(self.call(kernel, workspace, stream), "launch")
        self.cuda.check(self.cuda.rt.cudaStreamSynchronize(stream), "run")
        self.cuda.sync()
        self.cuda.rt.cudaStreamDestroy(stream)
        for what, buffer in [*self.buffers.items(), ("workspace", workspace)]:
            if buffer and buffer.overrun():
                raise RuntimeError(f"wrote outside {what}")
        if [b.hash() for b in self.inputs] != self.hashes:
            raise RuntimeError("changed its inputs")
        if workspace:
            workspace.free()
        return self.compare()

    def compare(self):
        task, result = self.task, Comparison()
        u, k = U[task["contract"]["precision"]], evaluate(task.get("reduction_length", 0), self.names)
        tolerance = task.get("tolerance", {}).get(next(a["name"] for a in task["arguments"] if a["kind"] == "output"), {})
        factor = tolerance.get("element_factor", 16)
        self.cuda.check(self.cuda.ops.check_compare(ctypes.c_void_p(self.output.at), ctypes.c_void_p(self.ref), ctypes.c_void_p(self.scale),
                                                    ctypes.c_int64(self.count), ctypes.c_double(u), ctypes.c_double(factor),
                                                    ctypes.byref(result)), "compare")
        if result.nonFinite or result.failed:
            raise RuntimeError(f"{result.nonFinite} not finite, {result.failed} of {self.count} over the bound, first at "
                               f"{result.firstFailed}, worst {result.worst:.3g} u*scale")
        bound = u * max(tolerance.get("norm_factor", 8), tolerance.get("norm_sqrt_factor", 0.45) * math.sqrt(k))
        norm = math.sqrt(result.error2 / result.reference2) if result.reference2 else 0.0
        if norm > bound:
            raise RuntimeError(f"norm error {norm:.3g} over {bound:.3g}")
        return result.worst / factor, norm / bound

    def time(self, kernel, count, flush):
        size = self.workspace_bytes(kernel)
        workspace = Buffer(self.cuda, size) if size else None
        start, stop, times = event(self.cuda), event(self.cuda), []
        for i in range(count + 3):
            self.cuda.rt.cudaMemsetAsync(ctypes.c_void_p(flush.at), i & 255, ctypes.c_size_t(flush.size), None)
            self.cuda.rt.cudaEventRecord(start, None)
            self.cuda.check(self.call(kernel, workspace, None), "launch")
            self.cuda.rt.cudaEventRecord(stop, None)
            self.cuda.sync()
            if i >= 3:
                times.append(1000 * elapsed(self.cuda, start, stop))
        if workspace:
            workspace.free()
        return times

    def free(self):
        for b in self.buffers.values():
            b.free()
        self.cuda.free(self.ref)
        self.cuda.free(self.scale)


def event(cuda):
    e = ctypes.c_void_p()
    cuda.check(cuda.rt.cudaEventCreate(ctypes.byref(e)), "event")
    return e


def elapsed(cuda, start, stop):
    ms = ctypes.c_float()
    cuda.check(cuda.rt.cudaEventElapsedTime(ctypes.byref(ms), start, stop), "elapsed")
    return ms.value


class Kernel:
    def __init__(self, name, source, libraries=(), baseline=False):
        self.name, self.source, self.libraries, self.baseline = name, source, libraries, baseline
        self.entry = self.workspace = self.error = None

    def build(self, folder):
        base = os.path.join(folder, re.sub(r"\W", "_", self.name))
        with open(base + ".cu", "w") as f:
            f.write(self.source)
        done = subprocess.run([NVCC, "-shared", "-cudart", "none", "--no-compress", "-lineinfo", "-std=c++17", "-Xcompiler", "-fPIC",
                               "-Xptxas", "-v", "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", base + ".cu", "-o", base + ".so",
                               *["-l" + l for l in self.libraries]], capture_output=True, text=True)
        if done.returncode:
            self.error = "build: " + (done.stderr.strip().splitlines() or ["?"])[0]
        self.registers = max([int(r) for r in re.findall(r"Used (\d+) registers", done.stderr)], default=0)
        self.spills = sum(int(r) for r in re.findall(r"(\d+) bytes spill loads", done.stderr))
        self.library = base + ".so"

    def load(self, task):
        if self.error:
            return
        try:
            library = ctypes.CDLL(self.library)
        except OSError as e:
            self.error = str(e)
            return
        self.entry = getattr(library, task["entry"])
        try:
            self.workspace = getattr(library, task["entry"] + "_workspace")
            self.workspace.restype = ctypes.c_size_t
        except AttributeError:
            pass


def tunables(source):
    return {m[1]: m[2].split() for m in re.finditer(r"^// espalier: tune (\w+) = ([\d ]+)", source, re.M)}


def with_values(source, values):
    for name, value in values.items():
        source = re.sub(rf"(?m)^#define {name} .*$", f"#define {name} {value}", source)
    return source


def defaults(source):
    return {n: re.search(rf"(?m)^#define {n} (\S+)", source)[1] for n in tunables(source)}


def kernels_of(folder, task, options):
    def read(name):
        with open(os.path.join(folder, name)) as f:
            return f.read()

    found = [Kernel("root", read(task.get("root", "root.cu")))]
    found += [Kernel(b["id"], read(b["file"]), b.get("libraries", []), True) for b in task.get("baselines", [])]
    playbook = os.path.join(folder, task.get("playbook", "playbook/playbook.json"))
    if os.path.exists(playbook):
        with open(playbook) as f:
            ideas = json.load(f)["ideas"]
        found += [Kernel(i["id"], read(os.path.join("playbook", i["file"]))) for i in ideas]
    if options.only:
        found = [k for k in found if k.name == "root" or re.search(options.only, k.name)]
    for k in list(found):
        space, start = tunables(k.source), defaults(k.source)
        if options.grid:
            choices = [dict(zip(space, c)) for c in itertools.product(*space.values())] if space else []
        else:
            choices = [{**start, n: v} for n in space for v in space[n]] if options.tune else []
        seen = [start]
        for c in choices:
            if c not in seen:
                seen.append(c)
                found.append(Kernel(k.name + " " + " ".join(f"{n}={v}" for n, v in c.items()), with_values(k.source, c)))
    return found


def run_task(cuda, folder, options, scratch):
    with open(os.path.join(folder, "task.json")) as f:
        task = json.load(f)
    task.setdefault("entry", task["id"])
    with open(os.path.join(folder, task["oracle"]["file"])) as f:
        oracle = Kernel("oracle", f.read())
    kernels = kernels_of(folder, task, options)
    folder_of_task = os.path.join(scratch, task["id"])
    os.makedirs(folder_of_task)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda k: k.build(folder_of_task), [oracle, *kernels]))
    if oracle.error:
        sys.exit(oracle.error)
    oracle_entry = getattr(ctypes.CDLL(oracle.library), task["entry"] + "_oracle")
    for k in kernels:
        k.load(task)
        k.element = k.norm = 0.0
        k.times = {}

    flush = Buffer(cuda, 512 << 20)
    failures = 0
    for description in task["cases"]:
        timed = "time" in description["roles"]
        case = Case(cuda, task, description, oracle_entry)
        if timed or case.chunks_differ:
            print(f"# {task['id']} {description['name']}: oracle {case.oracle_ms:.2f} ms, chunked differs in {case.chunks_differ} bytes", flush=True)
        failures += case.chunks_differ > 0
        for k in kernels:
            if k.error:
                continue
            try:
                for seed in (1, 2):
                    element, norm = case.verify(k, seed)
                    k.element, k.norm = max(k.element, element), max(k.norm, norm)
                if timed and options.time:
                    k.times[description["name"]] = case.time(k, options.time, flush)
            except RuntimeError as e:
                k.error = f"{description['name']}: {e}"
        case.free()
    flush.free()

    print(f"\n{task['id']:<44} regs spill  element   norm   (parts of the bound)   us: median [min]")
    for k in kernels:
        times = "  ".join(f"{n}: {statistics.median(t):.1f} [{min(t):.1f}]" for n, t in k.times.items())
        print(f"{k.name:<44} {k.registers:4} {k.spills:5}  {k.element:7.4f} {k.norm:7.4f}  {times}" + (f"  FAILED {k.error}" if k.error else ""), flush=True)
        # A tunable's value may be impossible (too many registers); a kernel as it ships may not fail.
        failures += bool(k.error) and "=" not in k.name
    return failures


def main():
    parser = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--tasks", default=os.path.join(here, "..", "..", "tasks"))
    parser.add_argument("--time", type=int, default=30)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("task", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cuda = Cuda(scratch)
        failures = sum(run_task(cuda, os.path.join(options.tasks, t), options, scratch) for t in options.task)
    print("failures:", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
