#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives one `espalier-worker judge` by hand: libraries from files, answers as they come.

  drive_judge.py WORKER DEVICE TASK.json ORACLE.so ROOT.so CANDIDATE.so [CANDIDATE.so ...] [options]

Options: --tier quick|full, --repeat N, --verify-only, --parent FILE.so, --baseline ID=FILE.so, --cases A,B, --expect OUTCOME
(may be given once per candidate), --quiet. The exit code is 1 when an expectation fails.
"""
import argparse
import base64
import hashlib
import json
import subprocess
import sys
import time


class Judge:
    def __init__(self, worker, device):
        self.process = subprocess.Popen([worker, "judge", "--device", device], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        start = time.time()
        self.say({"type": "hello", "version": 1})
        self.hello = self.hear()
        print(f"hello after {time.time() - start:.2f} s: {json.dumps(self.hello)}")
        if self.hello["type"] != "hello":
            sys.exit(1)

    def say(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the judge ended with {self.process.wait()}")
        return json.loads(line)

    def put(self, path):
        with open(path, "rb") as file:
            content = file.read()
        name = hashlib.sha256(content).hexdigest()
        self.say({"type": "have", "hashes": [name]})
        if self.hear()["hashes"]:
            self.say({"type": "put", "hash": name, "base64": base64.b64encode(content).decode()})
            self.hear()
        return name


def summary(evaluation):
    lines = [f"  {evaluation['outcome']} {evaluation.get('cause', '')}: {evaluation['reason']}"]
    lines += [f"    {e['check']}: {e['sentence']}" for e in evaluation["evidence"]]
    if evaluation.get("verify"):
        verify = evaluation["verify"]
        worst = max((e["worst_element_ratio"] for e in verify["errors"]), default=0)
        norm = max((e["norm_error"] / e["norm_bound"] for e in verify["errors"] if e["norm_bound"]), default=0)
        lines.append(f"    verify: {verify['calls']} calls in {1000 * verify['seconds']:.0f} ms, worst {worst:.3g} of the element bound, {norm:.3g} of the norm bound")
    for case in (evaluation.get("timing") or {}).get("cases", []):
        t = case["time_us"]
        lines.append(f"    {case['case']}: {t['value']:.2f} us [{t['low']:.2f}, {t['high']:.2f}], floor {case['goal_floor_us']:.1f}, "
                     f"{case['blocks']} blocks, {case['samples']} samples, {case['dropped']} dropped, by {case['stopped_by']}, rivals {case['rival_time_us']}")
        for what in ("speedup_root", "speedup_parent"):
            if case.get(what):
                s = case[what]
                lines.append(f"      {what} {s['value']:.4f} [{s['low']:.4f}, {s['high']:.4f}]")
        for name, s in case.get("speedup_baselines", {}).items():
            lines.append(f"      against {name} {s['value']:.4f} [{s['low']:.4f}, {s['high']:.4f}]")
    if evaluation.get("timing"):
        timing = evaluation["timing"]
        lines.append(f"    timing: {1000 * timing['seconds']:.0f} ms, {timing['timed_calls']} timed calls, {timing['checked_calls']} checked, {timing['fully_compared']} whole")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    for name in ("worker", "device", "task", "oracle", "root"):
        parser.add_argument(name)
    parser.add_argument("candidates", nargs="+")
    parser.add_argument("--tier", default="quick")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--verify-only", action="store_true")
    parser.add_argument("--parent")
    parser.add_argument("--baseline", action="append", default=[])
    parser.add_argument("--cases", default="")
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()

    judge = Judge(options.worker, options.device)
    common = {"type": "evaluate", "tier": options.tier, "verify_only": options.verify_only, "task": judge.put(options.task),
              "oracle": judge.put(options.oracle), "root": judge.put(options.root)}
    if options.parent:
        common["parent"] = judge.put(options.parent)
    if options.cases:
        common["cases"] = options.cases.split(",")
    common["baselines"] = [{"id": b.split("=")[0], "hash": judge.put(b.split("=")[1])} for b in options.baseline]
    failed = number = 0
    for index, path in enumerate(options.candidates):
        candidate = judge.put(path)
        for _ in range(options.repeat):
            number += 1
            start = time.time()
            judge.say(dict(common, id=number, candidate=candidate))
            while True:
                answer = judge.hear()
                if answer["type"] == "finished":
                    break
                if not options.quiet:
                    print(f"  {1000 * (time.time() - start):.0f} ms {answer['type']} {answer.get('text', answer.get('message', ''))}")
            evaluation = answer["evaluation"]
            print(f"{path}: {1000 * (time.time() - start):.0f} ms\n{summary(evaluation)}", flush=True)
            expected = options.expect[min(index, len(options.expect) - 1)] if options.expect else evaluation["outcome"]
            if evaluation["outcome"] != expected:
                print(f"  EXPECTED {expected}")
                failed += 1
    judge.say({"type": "quit"})
    judge.process.wait()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
