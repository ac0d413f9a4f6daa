// SPDX-License-Identifier: GPL-3.0-only
#include "views/cuda_lexer.h"

#include "views/theme.h"

namespace espalier {

namespace {

constexpr const char* cudaWords =
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ __forceinline__ "
    "__noinline__ __grid_constant__ __cluster_dims__ __align__ __maxnreg__ "
    "threadIdx blockIdx blockDim gridDim warpSize dim3 "
    "char2 char3 char4 uchar2 uchar3 uchar4 short2 short4 ushort2 ushort4 int2 int3 int4 uint2 uint3 uint4 long2 "
    "ulong2 "
    "longlong2 ulonglong2 float2 float3 float4 double2 double3 double4 half half2 __half __half2 __nv_bfloat16 "
    "__nv_bfloat162 cudaError_t cudaStream_t cudaSuccess CUtensorMap "
    "__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system __shfl_sync __shfl_up_sync "
    "__shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync __activemask __reduce_add_sync "
    "__reduce_max_sync "
    "__reduce_min_sync __match_any_sync __ldg __ldcs __ldcg __ldca __ldcv __stcs __stcg __stwt __expf __logf "
    "__fdividef "
    "__fmaf_rn __frcp_rn __fadd_rn __fmul_rn __float_as_int __int_as_float __float_as_uint __uint_as_float "
    "__cvta_generic_to_shared "
    "__popc __clz __ffs __brev atomicAdd atomicMax atomicMin atomicCAS atomicExch make_float2 make_float4 make_int2 "
    "make_int4 make_uint4 asm volatile expf fmaxf fminf rsqrtf sqrtf fmaf";

Token tokenOf(int style)
{
    switch (style % 64) { // inactive preprocessor branches repeat the styles 64 higher
    case QsciLexerCPP::Comment:
    case QsciLexerCPP::CommentLine:
    case QsciLexerCPP::CommentDoc:
    case QsciLexerCPP::CommentLineDoc:
    case QsciLexerCPP::CommentDocKeyword:
    case QsciLexerCPP::CommentDocKeywordError:
    case QsciLexerCPP::PreProcessorComment:
    case QsciLexerCPP::PreProcessorCommentLineDoc:
        return Token::SyntaxComment;
    case QsciLexerCPP::Number:
    case QsciLexerCPP::UserLiteral:
        return Token::SyntaxNumber;
    case QsciLexerCPP::Keyword:
        return Token::SyntaxKeyword;
    case QsciLexerCPP::KeywordSet2:
    case QsciLexerCPP::GlobalClass:
        return Token::SyntaxCuda;
    case QsciLexerCPP::DoubleQuotedString:
    case QsciLexerCPP::SingleQuotedString:
    case QsciLexerCPP::UnclosedString:
    case QsciLexerCPP::RawString:
    case QsciLexerCPP::VerbatimString:
    case QsciLexerCPP::EscapeSequence:
        return Token::SyntaxString;
    case QsciLexerCPP::PreProcessor:
        return Token::SyntaxPreprocessor;
    default:
        return Token::Text;
    }
}

} // namespace

CudaLexer::CudaLexer(QObject* parent) : QsciLexerCPP(parent)
{
    setFoldComments(false);
}

const char* CudaLexer::keywords(int set) const
{
    return set == 2 ? cudaWords : QsciLexerCPP::keywords(set);
}

void CudaLexer::setTheme(const Theme& theme, const QFont& font)
{
    setDefaultFont(font);
    setDefaultColor(theme[Token::Text]);
    setDefaultPaper(theme[Token::Background]);
    for (int style = 0; style < 128; ++style) {
        QFont styled = font;
        styled.setItalic(tokenOf(style) == Token::SyntaxComment);
        setFont(styled, style);
        setColor(style >= 64 ? theme[Token::Draft] : theme[tokenOf(style)], style);
        setPaper(theme[Token::Background], style);
        setEolFill(false, style);
    }
}

} // namespace espalier
