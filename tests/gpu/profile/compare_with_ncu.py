#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds our counters against ncu's on five kernels with known counts: compare_with_ncu.py PROBE KERNELS.so CUDART.so
Both run cold and at the clocks the device chooses. Exit code 1 where a counter differs by more than 2 %."""
import csv
import io
import json
import shutil
import subprocess
import sys

KERNELS = {0: "copy", 1: "fma", 2: "strided", 3: "conflicts", 4: "tensor"}
# Counter, and below which value a difference says nothing: what stays dirty in the L2 cache, start and end of a launch.
COUNTERS = {
    "dram__bytes_read.sum": 2e6,
    "dram__bytes_write.sum": 50e6,
    "lts__t_sectors_srcunit_tex.sum": 1e3,
    "smsp__inst_executed.sum": 1e3,
    "l1tex__lsu_writeback_active_mem_lgds.sum": 1e5,
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1e3,
    "sm__ops_path_tensor_src_fp16.sum": 1e3,
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 1e4,
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": 0.1,
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": 0.1,
    "sm__warps_active.avg.pct_of_peak_sustained_active": 5,
    "smsp__issue_active.avg.pct_of_peak_sustained_active": 5,
    "lts__t_sector_hit_rate.pct": 5,
}
LIMIT = 0.02


def ours(probe, kernels, runtime, kind):
    out = subprocess.run([probe, "ranges", "core,flops,full,tensor_f16", kernels, runtime, "1", str(kind)],
                         capture_output=True, text=True, timeout=60, check=True).stdout
    return json.loads(out)


def theirs(probe, kernels, runtime, kind):
    out = subprocess.run([shutil.which("ncu") or "/usr/local/cuda/bin/ncu", "--clock-control", "none", "--launch-skip", "1",
                          "--launch-count", "1", "--csv", "--print-units", "base", "--metrics", ",".join(COUNTERS), probe, "plain", "-",
                          kernels, runtime, "1", str(kind)], capture_output=True, text=True, timeout=120, check=True).stdout
    table = "\n".join(line for line in out.splitlines() if line.startswith('"'))
    return {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(io.StringIO(table))}


def main():
    probe, kernels, runtime = sys.argv[1:4]
    worst = 0.0
    print("| kernel | counter | ours | ncu | difference |\n| --- | --- | --- | --- | --- |")
    for kind, name in KERNELS.items():
        mine, reference = ours(probe, kernels, runtime, kind), theirs(probe, kernels, runtime, kind)
        for counter, small in COUNTERS.items():
            if counter not in mine["counters"] or counter not in reference:
                print(f"| {name} | {counter} | missing | {counter in reference} | |")
                worst = 1.0
                continue
            a, b = mine["counters"][counter], reference[counter]
            few = counter == "lts__t_sector_hit_rate.pct" and reference["lts__t_sectors_srcunit_tex.sum"] < 1e6
            if max(a, b) < small or few:
                continue
            difference = abs(a - b) / max(abs(b), 1e-9)
            worst = max(worst, difference)
            print(f"| {name} | {counter} | {a:.6g} | {b:.6g} | {100 * difference:.2f} %{' !' if difference > LIMIT else ''} |")
        print(f"| {name} | (cost) | {mine['passes']} passes | {mine['milliseconds']:.0f} ms | start {mine['ms_open']:.0f} + "
              f"{mine['ms_prepare']:.0f} ms |")
    print(f"worst difference {100 * worst:.2f} %")
    return 1 if worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
