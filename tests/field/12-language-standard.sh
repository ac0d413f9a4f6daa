#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A task and a candidate choose the language standard.
. "$(dirname "$0")/lib.sh"

kernel modern.cu -e 's/#include <cmath>/\/\/ espalier: std c++20\n#include <concepts>\n&/' \
  -e 's/^constexpr int kThreads/template <typename T> concept Real = std::floating_point<T>;\n&/' \
  -e 's/^__global__ void softmaxRows(const float\* x, float\* y/template <Real T> __global__ void softmaxRows(const T* x, T* y/'
answers 0 'passed' "$ctl" eval softmax_f32 modern.cu --device sim
sed '/espalier: std/d' modern.cu >unsaid.cu
answers 4 'c\+\+20|std' "$ctl" eval softmax_f32 unsaid.cu --device sim
mkdir my_op && cp "$tasks"/softmax_f32/{oracle.cu,root.cu,task.json} my_op/
sed -i -e '/baselines/,/\],/d' -e '/"playbook"/d' -e 's/"build": {/"build": {"flags": ["-std=c++20"], /' my_op/task.json
answers 0 'passed' "$ctl" eval my_op unsaid.cu --device sim
done_with
