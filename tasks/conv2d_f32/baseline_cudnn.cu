// SPDX-License-Identifier: 0BSD
// cuDNN's forward convolution with bias, NCHW, fp32 tensors with TF32 products allowed (CUDNN_TENSOR_OP_MATH), the
// fastest algorithm of the library's own search. A trusted rival, so it may keep handle, descriptors and choice between
// calls, and may search in the first call of a shape, which is never a sample. Left out where cuDNN is not installed.
#include <cstdint>
#include <cudnn.h>
#include <map>
#include <tuple>

namespace {

constexpr size_t workspaceBytes = size_t{512} << 20;

struct Plan {
    cudnnTensorDescriptor_t input = nullptr, bias = nullptr, output = nullptr;
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t convolution = nullptr;
    cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    bool described = false, searched = false;
};

bool describe(Plan& plan, int n, int c, int h, int w, int k)
{
    const bool made = cudnnCreateTensorDescriptor(&plan.input) == CUDNN_STATUS_SUCCESS &&
                      cudnnCreateTensorDescriptor(&plan.bias) == CUDNN_STATUS_SUCCESS &&
                      cudnnCreateTensorDescriptor(&plan.output) == CUDNN_STATUS_SUCCESS &&
                      cudnnCreateFilterDescriptor(&plan.filter) == CUDNN_STATUS_SUCCESS &&
                      cudnnCreateConvolutionDescriptor(&plan.convolution) == CUDNN_STATUS_SUCCESS;
    return made &&
           cudnnSetTensor4dDescriptor(plan.input, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w) ==
               CUDNN_STATUS_SUCCESS &&
           cudnnSetTensor4dDescriptor(plan.bias, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, k, 1, 1) ==
               CUDNN_STATUS_SUCCESS &&
           cudnnSetTensor4dDescriptor(plan.output, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, k, (h - 7) / 4 + 1,
                                      (w - 7) / 4 + 1) == CUDNN_STATUS_SUCCESS &&
           cudnnSetFilter4dDescriptor(plan.filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, c, 11, 11) ==
               CUDNN_STATUS_SUCCESS &&
           cudnnSetConvolution2dDescriptor(plan.convolution, 2, 2, 4, 4, 1, 1, CUDNN_CROSS_CORRELATION,
                                           CUDNN_DATA_FLOAT) == CUDNN_STATUS_SUCCESS &&
           cudnnSetConvolutionMathType(plan.convolution, CUDNN_TENSOR_OP_MATH) == CUDNN_STATUS_SUCCESS;
}

} // namespace

extern "C" cudaError_t conv2d_f32(const float* x, const float* weight, const float* bias, float* y, int64_t n,
                                  int64_t c, int64_t h, int64_t w, int64_t k, void* workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    static cudnnHandle_t handle = nullptr;
    static std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, Plan> plans;
    if (handle == nullptr && cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS)
        return cudaErrorInitializationError;
    if (cudnnSetStream(handle, stream) != CUDNN_STATUS_SUCCESS)
        return cudaErrorInvalidValue;
    Plan& plan = plans[{n, c, h, w, k}];
    if (!plan.described) {
        plan.described = describe(plan, static_cast<int>(n), static_cast<int>(c), static_cast<int>(h),
                                  static_cast<int>(w), static_cast<int>(k));
        if (!plan.described)
            return cudaErrorInvalidValue;
    }
    // In a capture nothing can be timed: the default algorithm is taken then, and nothing is kept.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream, &capture);
    if (!plan.searched && capture == cudaStreamCaptureStatusNone) {
        cudnnConvolutionFwdAlgoPerf_t best;
        int found = 0;
        if (cudnnFindConvolutionForwardAlgorithmEx(handle, plan.input, x, plan.filter, weight, plan.convolution,
                                                   plan.output, y, 1, &found, &best, workspace,
                                                   workspace_bytes) == CUDNN_STATUS_SUCCESS &&
            found == 1) {
            plan.algorithm = best.algo;
            cudnnSetConvolutionMathType(plan.convolution, best.mathType);
        }
        plan.searched = true;
    }
    const float one = 1.0f;
    const float zero = 0.0f;
    if (cudnnConvolutionForward(handle, &one, plan.input, x, plan.filter, weight, plan.convolution, plan.algorithm,
                                workspace, workspace_bytes, &zero, plan.output, y) != CUDNN_STATUS_SUCCESS)
        return cudaErrorUnknown;
    return cudnnAddTensor(handle, &one, plan.bias, bias, &one, plan.output, y) == CUDNN_STATUS_SUCCESS
               ? cudaSuccess
               : cudaErrorUnknown;
}

extern "C" size_t conv2d_f32_workspace(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return workspaceBytes;
}
