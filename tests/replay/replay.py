#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the replayed search of every task on a device, from ideas to a verified speed-up, and prints what came of it."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TASKS = ["softmax_f32", "matmul_f32", "layernorm_f32", "swiglu_f32", "rmsnorm_f32"]


def search(options, task, folder):
    own = HERE / "tasks" / task
    words = [options.espalierctl, "run", str(own) if own.is_dir() else task,
             "--session", str(folder / f"{task}.espalier"), "--device", options.device, "--proposer", "replay",
             "--folder", str(HERE / task), "--evals", str(options.evals), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=options.seconds)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return done.returncode, {}, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--espalierctl", default="espalierctl")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--evals", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300, help="most seconds for one task")
    parser.add_argument("--keep", help="keep the sessions in this folder")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for task in TASKS:
            code, result, log = search(options, task, folder)
            best = result.get("best") or {}
            speedup = best.get("speedup_root") or 0
            good = code == 0 and best.get("found_by") == "replay" and (best.get("speedup_root_low") or 0) > 1
            failed += not good
            print(f"{task:14} {'ok  ' if good else 'FAIL'} node {best.get('node')}: {best.get('time_us', 0):.2f} us, "
                  f"{speedup:.3f} of the root [{best.get('speedup_root_low')}, {best.get('speedup_root_high')}], "
                  f"{result.get('provenance')} on {result.get('device')}; {result.get('evaluations')} evaluations, "
                  f"{result.get('passed')} passed, {(result.get('models') or {}).get('requests')} requests, "
                  f"{result.get('seconds', 0):.1f} s", flush=True)
            if not good:
                print(log, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
