#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live line fits the terminal, and its modelled figures carry their sign.
. "$(dirname "$0")/lib.sh"

for columns in 40 80 132; do
  script -qc "stty cols $columns rows 24; \"$ctl\" run softmax_f32 --session s$columns.espalier --device sim --evals 6" typed >/dev/null </dev/null
  python3 - typed $columns <<'P' || failed=$((failed + 1))
import re, sys
data, columns = open(sys.argv[1], "rb").read().decode("utf-8", "replace"), int(sys.argv[2])
wide = modelled = 0
for line in re.split(r"[\r\n]", data):
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
    live = "\x1b[" in line or re.match(r"^\d+/\d+ ", plain)
    if live and len(plain) > columns:
        wide += 1
        print(f"FAILED: {len(plain)} columns of {columns}: {plain[:160]}", file=sys.stderr)
    if live and re.search(r"\d+(\.\d+)? (us|ms)\b", plain):
        modelled += 1
        if "≈" not in plain:
            print(f"FAILED: a modelled figure without its sign: {plain[:160]}", file=sys.stderr)
            wide += 1
sys.exit(1 if wide else 0)
P
done
done_with
