// SPDX-License-Identifier: Apache-2.0
// honest: 10 words like pass, try, stream and half in names and comments
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

// try the first pass: half of the block reduces while the other half of the stream waits. torch.nn.Conv3d, cublasSgemm,
// cudaDeviceSynchronize, dlopen, system("true"), fork, clock, seed, oracle, checker, judge, benchmark, timing: words.
namespace {

struct Parameters {
    const char* layer = "torch.nn.Conv3d";
    int pass = 1, half = 2;
};

/// A second pass that does nothing but be called like a cheat.
__global__ void passHalfStreamTry(float* y, int half)
{
    if (half == 0)
        y[0] = 0.0f;
}

} // namespace

ENTRY
{
    const Parameters torch;
    honest(x, y, rows, cols, stream);
    passHalfStreamTry<<<1, 1, 0, stream>>>(y, torch.half * torch.pass);
    return cudaGetLastError();
}
