#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The live line fits the terminal, and its modelled figures carry their sign.
. "$(dirname "$0")/lib.sh"

for columns in 40 80 132; do
  script -qec "stty cols $columns rows 24; \"$ctl\" run softmax_f32 --session s$columns.espalier --device sim --evals 6" typed >/dev/null </dev/null
  python3 - typed $columns <<'P' || failed=$((failed + 1))
import re, sys
data, columns = open(sys.argv[1], "rb").read().decode("utf-8", "replace"), int(sys.argv[2])
assert 'COMMAND_EXIT_CODE="0"' in data, "the run ended well: " + data[-300:]
# The live line is drawn where the cursor was kept (ESC 7) and cleared from there (ESC 8, ESC [J) before anything else.
live = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text) for text in re.findall(r"\x1b7(.*?)(?=\x1b8|\r|\n|$)", data, re.S)]
wide = [text for text in live if len(text) >= columns]
modelled = [text for text in live if re.search(r"best .*\dx", text)]
bare = [text for text in modelled if "\u2248" not in text]
for text in wide + bare:
    print(f"FAILED: {len(text)} columns of {columns}: {text[:160]}", file=sys.stderr)
if len(live) < 3 or not modelled:
    print(f"FAILED: {len(live)} live lines, {len(modelled)} with a figure", file=sys.stderr)
sys.exit(1 if wide or bare or len(live) < 3 or not modelled else 0)
P
done
done_with
