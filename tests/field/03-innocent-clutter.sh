#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an honest author leaves in a file is no cheat: it runs, or is told in one sentence with the remedy.
. "$(dirname "$0")/lib.sh"

innocent() { # FILE [WORDS]: passes, or does not build with these words; never suspicious
  local file=$1 words=${2:-} code said
  said=$("$ctl" eval softmax_f32 "$file" --device sim 2>&1 </dev/null)
  code=$?
  case $code in
    0) ;;
    4) grep -Eqi -- "$words" <<<"$said" || complain "$file lacks /$words/: $(head -n 3 <<<"$said" | cut -c1-300)" ;;
    *) complain "$file exited $code: $(head -n 3 <<<"$said" | cut -c1-300)" ;;
  esac
  ! grep -qi suspicious <<<"$said" || complain "$file is called suspicious"
}

kernel stream.cu -e 's/#include <cmath>/#include <iostream>\n&/'
innocent stream.cu 'iostream'
kernel vectors.cu -e 's/#include <cmath>/#include <algorithm>\n#include <string>\n#include <vector>\n&/'
innocent vectors.cu 'vector|string'
kernel main.cu -e '$a #include <cstdio>\nint main() { float* x; cudaMalloc(\&x, 4); cudaDeviceSynchronize(); std::printf("done\\n"); return 0; }'
innocent main.cu 'main'
kernel umbrella.cu -e 's/#include <cmath>/#include <cub\/cub.cuh>\n&/'
innocent umbrella.cu 'cub'
kernel torch.cu -e 's/#include <cmath>/#include <torch\/extension.h>\n&/'
innocent torch.cu 'torch'
kernel cute.cu -e 's/#include <cmath>/#include <cute\/tensor.hpp>\n&/'
innocent cute.cu 'cute|cutlass'
kernel nothing.cu -e 's/extern "C" cudaError_t softmax_f32/extern "C" void softmax_f32/' -e 's/return cudaGetLastError();//'
innocent nothing.cu 'cudaError_t softmax_f32\('
kernel narrow.cu -e 's/int64_t rows, int64_t cols, void/int rows, int cols, void/'
innocent narrow.cu 'cudaError_t softmax_f32\('
cat >program.cu <<'P'
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void rows(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x] * n; }
int main()
{
    std::vector<float> h(256, 1.0f);
    float *x, *y;
    cudaMalloc(&x, 1024);
    cudaMalloc(&y, 1024);
    cudaMemcpy(x, h.data(), 1024, cudaMemcpyHostToDevice);
    rows<<<1, 256>>>(x, y, 2);
    if (cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
    printf("%f\n", h[0]);
}
P
innocent program.cu 'cudaError_t softmax_f32\('
done_with
