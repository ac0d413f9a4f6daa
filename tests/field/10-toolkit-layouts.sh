#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The toolkit is where nvcc says that it is: other layouts, a wrapper, no PATH; a wrong CUDA_HOME is an error.
. "$(dirname "$0")/lib.sh"

nvcc=$(readlink -f "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
home=$(dirname "$(dirname "$nvcc")")
unset CUDA_HOME
mkdir -p conda/bin conda/targets/x86_64-linux wrap/bin
cp "$nvcc" conda/bin/
for part in include lib; do ln -s "$home/targets/x86_64-linux/$part" conda/targets/x86_64-linux/$part; done
cat >conda/bin/nvcc.profile <<P
TOP = \$(_HERE_)/..
CICC_PATH = $home/nvvm/bin
NVVMIR_LIBRARY_DIR = $home/nvvm/libdevice
PATH += $home/bin:
INCLUDES += "-I\$(TOP)/targets/x86_64-linux/include" \$(_SPACE_)
P
printf '#!/bin/sh\nexec %s "$@"\n' "$nvcc" >wrap/bin/nvcc
chmod +x wrap/bin/nvcc
says_compiler() { answers 0 '^compiler +ok|compiler.*ok|nvcc.*13\.' env "$@" "$ctl" doctor; }
says_compiler PATH="$work/conda/bin:/usr/bin:/bin"
says_compiler PATH="$work/wrap/bin:/usr/bin:/bin"
answers 0 'passed' env PATH="$work/conda/bin:/usr/bin:/bin" "$ctl" eval softmax_f32 "$tasks/softmax_f32/root.cu" --device sim
answers 0 'passed' env PATH="$work/wrap/bin:/usr/bin:/bin" "$ctl" eval softmax_f32 "$tasks/softmax_f32/root.cu" --device sim
[ ! -x /usr/local/cuda/bin/nvcc ] || says_compiler -i HOME="$work" ESPALIER_TASKS="$tasks"
answers 5 'does-not-exist' env CUDA_HOME="$work/does-not-exist" "$ctl" eval softmax_f32 "$tasks/softmax_f32/root.cu" --device sim
done_with
