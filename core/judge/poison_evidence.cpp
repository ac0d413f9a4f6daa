// SPDX-License-Identifier: Apache-2.0
#include "core/judge/poison_evidence.h"

#include <cmath>

namespace espalier::judge {

namespace {

/// Uniform in [-4, 4): values in [2, 4) lie furthest apart, so each of them is hit most often.
double noiseBits(ops::DType type)
{
    switch (type) {
    case ops::DType::F16:
    case ops::DType::TF32:
        return 12;
    case ops::DType::BF16:
        return 9;
    case ops::DType::FP8E4M3:
        return 5;
    case ops::DType::FP8E5M2:
        return 4;
    case ops::DType::F32:
        return 25;
    default:
        return 32;
    }
}

/// Random bits of a quiet NaN: its sign and the rest of its payload.
double nanBits(ops::DType type)
{
    switch (type) {
    case ops::DType::F16:
    case ops::DType::TF32:
        return 10;
    case ops::DType::BF16:
        return 7;
    case ops::DType::FP8E4M3:
        return 1;
    case ops::DType::FP8E5M2:
        return 2;
    case ops::DType::F32:
        return 23;
    default:
        return 52;
    }
}

bool isWhole(ops::DType type)
{
    return type == ops::DType::I8 || type == ops::DType::I32 || type == ops::DType::I64 || type == ops::DType::Bool;
}

} // namespace

double coincidence(ops::PoisonKind kind, ops::DType type)
{
    const double bits = isWhole(type)                  ? 8.0 * static_cast<double>(ops::sizeOf(type))
                        : kind == ops::PoisonKind::NaN ? nanBits(type)
                                                       : noiseBits(type);
    return std::exp2(-bits);
}

bool beyondChance(std::uint64_t matches, std::uint64_t wrong, double coincidence)
{
    if (matches == 0 || wrong == 0) {
        return false;
    }
    // Chernoff's bound on the upper tail of a binomial distribution.
    const double all = static_cast<double>(wrong), share = static_cast<double>(matches) / all;
    if (share <= coincidence) {
        return false;
    }
    const double rest = share < 1 ? (1 - share) * std::log((1 - share) / (1 - coincidence)) : 0;
    constexpr double million = 13.8; // its logarithm
    return all * (share * std::log(share / coincidence) + rest) > million;
}

} // namespace espalier::judge
