#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the assembler or the linker of the toolkit refuses is a candidate that does not build, with its line; a search in
# which a model slips like this goes on, and the model mends it.
. "$(dirname "$0")/lib.sh"

kernel typo.cu "$(after_t 'asm volatile("mvo.b32 %0, 1;" : : "r"(t));')"
kernel operand.cu "$(after_t 'unsigned q; asm volatile("ld.global.b64 %0, [%1];" : "=r"(q) : "l"(in)); if (q == 77) out[0] = 1;')"
kernel shared.cu -e 's/__shared__ float partial\[kThreads\];/__shared__ float partial[70000];/'
kernel constant.cu -e 's/^__global__ void softmaxRows/__constant__ float table[20000];\n&/' -e "$(after_t 'if (table[cols % 20000] == 7) out[0] = 1;')"
kernel undefined.cu -e 's/^__global__ void softmaxRows/__device__ float elsewhere(float);\n&/' -e "$(after_t 'if (elsewhere(in[0]) == 7) out[0] = 1;')"
for file in typo operand shared constant undefined; do
  answers 4 'build|did not build' "$ctl" eval softmax_f32 $file.cu --device sim
done
answers 4 'typo.cu:?.*line [0-9]+|line [0-9]+|\([0-9]+\)|:[0-9]+' "$ctl" eval softmax_f32 typo.cu --device sim

# a model that slips once and mends it
cat >model <<'M'
#!/bin/sh
cat >/dev/null
case "$ESPALIER_PURPOSE" in
idea*) echo '{"ideas": [{"title": "inline PTX", "text": "read the lane by inline PTX"}]}' ;;
repair*) echo '```cuda'; sed 's/kThreads = 256/kThreads = 128/' "$GOOD"; echo '```' ;;
*) echo '```cuda'; cat "$BAD"; echo '```' ;;
esac
M
chmod +x model
export GOOD=$tasks/softmax_f32/root.cu BAD=$work/typo.cu
answers 0 'evaluations' "$ctl" run softmax_f32 --session s.espalier --device sim --proposer llm --command ./model --ideas 1 --evals 2
answers 0 'candidate.*passed|passed' "$ctl" show s.espalier --tree
"$ctl" show s.espalier --json >s.json
[ "$(json s.json 'sum(n.get("outcome")=="build_failed" for n in d["nodes"])')" = 1 ] || complain "one candidate did not build"
[ "$(json s.json 'sum(n.get("outcome")=="passed" for n in d["nodes"] if n["kind"]=="candidate")')" = 1 ] || complain "its repair passed"

# a tuner's variant that does not build is skipped
sed -e 's/constexpr int kThreads = 256;/constexpr int kThreads = 256;\n\/\/ espalier: tune STAGE = 256 70000 512\n#define STAGE 256/' \
    -e 's/partial\[kThreads\]/partial[STAGE]/' "$tasks/softmax_f32/root.cu" >tuned.cu
mkdir my_op && cp "$tasks"/softmax_f32/{oracle.cu,task.json} my_op/ && cp tuned.cu my_op/root.cu
sed -i -e '/baselines/,/\],/d' -e '/"playbook"/d' -e 's/"softmax_f32",$/"softmax_f32",/' my_op/task.json
answers 0 'evaluations' "$ctl" run ./my_op --session t.espalier --device sim --proposer tuner --evals 4
done_with
