#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A session of one's own task goes where its file goes: another folder, a renamed task, no task at all.
. "$(dirname "$0")/lib.sh"

mkdir my_op
cp "$tasks"/layernorm_f32/{oracle.cu,task.json,root.cu} my_op/
sed -i -e 's/layernorm_f32/my_op/g' my_op/*
sed -i -e '/"playbook"/d' my_op/task.json
answers 0 'evaluations' "$ctl" run my_op --session "my s.espalier" --device sim --proposer tuner --evals 1
mkdir -p "other place"
mv "my s.espalier" "other place/"
mv my_op renamed
cd "other place"
each() {
  answers 0 '' "$ctl" export "my s.espalier" --node 1 --to "$1"
  answers 0 '' "$ctl" repro "my s.espalier" 1 --to "$1.cu"
  answers 0 '' "$ctl" steer "my s.espalier" add-idea --node 1 --title t --text "words of mine"
  sed "s/constexpr int kThreads = 1024/constexpr int kThreads = $2/" "$work/renamed/root.cu" >own.cu
  answers 0 '' "$ctl" steer "my s.espalier" inject own.cu
  answers 0 'my_op' "$ctl" run --session "my s.espalier" --evals 2
}
each e1 512
cp -r "$work/renamed" "$work/kept" && rm -r "$work/renamed" && mkdir "$work/renamed" && cp "$work/kept/root.cu" "$work/renamed/"
each e2 256

# what a pause prints goes on when it is pasted
cd "$work" && cp -r kept my_op
cat >slow <<'S'
#!/bin/sh
cat >/dev/null
: >"$ASKED"
exec sleep 60
S
chmod +x slow
export ASKED=$work/asked
"$ctl" run my_op --session "a pause.espalier" --device sim --evals 3 --proposer llm --command ./slow >said 2>&1 </dev/null &
run=$!
for _ in $(seq 600); do [ -e asked ] && break; sleep 0.1; done
[ -e asked ] || complain "the model was asked: $(tail -n 2 said)"
kill -INT "$run"
wait "$run"
line=$(grep -o 'espalierctl run .*' said | tail -n 1)
[ -n "$line" ] || complain "a paused run names the command that goes on: $(tail -n 2 said)"
rm asked
cd "other place"
timeout 120 bash -c "${line/#espalierctl/\"$ctl\"} --seconds 0.001" >again 2>&1 </dev/null
code=$?
[ "$code" -eq 0 ] || complain "as printed: $line: exit code $code: $(tail -n 2 again)"
done_with
