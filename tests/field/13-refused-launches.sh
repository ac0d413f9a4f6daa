#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A launch that the device refuses is told with what was asked for and the limit that was broken.
. "$(dirname "$0")/lib.sh"

kernel threads.cu -e 's/static_cast<unsigned>(rows), kThreads, 0, stream/static_cast<unsigned>(rows), 2048, 0, stream/'
answers 3 'softmaxRows.*2048.*1024' "$ctl" eval softmax_f32 threads.cu --device sim
kernel shared.cu -e 's/kThreads, 0, stream/kThreads, 300000, stream/'
answers 3 '300000.*(49152|232448|shared)|shared.*300000' "$ctl" eval softmax_f32 shared.cu --device sim
kernel grid.cu -e 's/<<<static_cast<unsigned>(rows), kThreads/<<<dim3(1, 70000, static_cast<unsigned>(rows)), kThreads/'
answers 3 '70000.*65535' "$ctl" eval softmax_f32 grid.cu --device sim
kernel none.cu -e 's/<<<static_cast<unsigned>(rows), kThreads/<<<static_cast<unsigned>(rows), 0/'
answers 3 'block|threads' "$ctl" eval softmax_f32 none.cu --device sim
done_with
