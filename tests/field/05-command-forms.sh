#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A model's command and a launcher, in the forms that people type.
. "$(dirname "$0")/lib.sh"

cat >agent.py <<'P'
import os, sys
sys.stdin.read()
with open("asked", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
if os.environ["ESPALIER_PURPOSE"].startswith("idea"):
    print('{"ideas": [{"title": "fewer threads", "text": "blocks of 128 threads"}]}')
else:
    print("```cuda\n" + open(os.environ["GOOD"]).read().replace("kThreads = 256", "kThreads = 128") + "```")
P
export GOOD=$tasks/softmax_f32/root.cu
run() { local s=$1; shift; answers 0 '1 passed|evaluations?: 1' "$ctl" run softmax_f32 --session "$s.espalier" --device sim --proposer llm --ideas 1 --evals 1 "$@"; }
run words --command python3 -u agent.py
run quoted --command "python3 -u agent.py"
run dashes --command -- python3 -u agent.py
run own --command python3 -u agent.py --model fast-one
grep -q -- '--model fast-one' asked || complain "the agent's own option did not reach it"
cp agent.py plain.py
chmod -x plain.py
answers 2 'plain.py.*(execut|chmod)' "$ctl" run softmax_f32 --session e.espalier --device sim --proposer llm --evals 1 --command ./plain.py
printf '#!/bin/sh\nshift\nexec "$@"\n' >srun
chmod +x srun
answers 0 'evaluations' "$ctl" run softmax_f32 --session l.espalier --device sim --evals 1 --launcher ./srun --gpus=1
answers 0 'evaluations' "$ctl" run softmax_f32 --session m.espalier --device sim --evals 1 --launcher "./srun --gpus=1"
done_with
