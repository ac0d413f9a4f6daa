// SPDX-License-Identifier: Apache-2.0
#include "core/export/repro_tools.h"

#include <algorithm>

#include <string_view>

namespace espalier {

namespace ops {
extern const char opsText[]; ///< embedded by CMake, one after the other
extern const char numbersText[];
extern const char opsImplText[];
} // namespace ops

namespace {

constexpr std::string_view tools = R"(
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace repro {

using namespace espalier::ops;

inline void check(cudaError_t error, const char* what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

// One argument: its bytes on the host and, once they are put there, on the device.
class Buffer
{
public:
    Buffer(const char* name, uint64_t elements, DType type, uint64_t place)
        : m_name(name), m_elements(elements), m_type(type), m_place(place), m_bytes(elements * sizeOf(type))
    {
    }

    uint64_t host() { return reinterpret_cast<uint64_t>(m_bytes.data()); }
    uint64_t elements() const { return m_elements; }
    DType type() const { return m_type; }
    const char* name() const { return m_name; }

    // Elements [first, first + count) as elements `index` and on of the stream of `seed`.
    void draw(Distribution distribution, double a, double b, uint64_t row, uint64_t first, uint64_t count,
              uint64_t index, uint64_t seed)
    {
        FillArgs args = {};
        args.address = host() + first * sizeOf(m_type);
        args.seed = seed;
        args.first = index;
        args.dtype = m_type;
        args.distribution = distribution;
        args.a = a;
        args.b = b;
        args.row = row;
        for (uint64_t i = 0; i < count; ++i) {
            fillElement(args, i);
        }
    }
    void poison()
    {
        const PoisonArgs args = {host(), poisonSeed, m_type, PoisonKind::NaN};
        for (uint64_t i = 0; i < m_elements; ++i) {
            poisonElement(args, i);
        }
    }
    void put()
    {
        if (!m_device) { // as far behind a multiple of 256 bytes as the judge's, and not a byte more
            check(cudaMalloc(&m_device, m_place + m_bytes.size() + (m_bytes.empty() ? 1 : 0)), m_name);
        }
        check(cudaMemcpy(device(), m_bytes.data(), m_bytes.size(), cudaMemcpyHostToDevice), m_name);
    }
    void get() { check(cudaMemcpy(m_bytes.data(), device(), m_bytes.size(), cudaMemcpyDeviceToHost), m_name); }
    void* device() { return static_cast<char*>(m_device) + m_place; }
    void write(const std::string& folder) const
    {
        const std::string path = folder + "/" + m_name + ".bin";
        std::FILE* file = std::fopen(path.c_str(), "wb");
        if (!file || std::fwrite(m_bytes.data(), 1, m_bytes.size(), file) != m_bytes.size() || std::fclose(file) != 0) {
            std::fprintf(stderr, "cannot write %s\n", path.c_str());
            std::exit(1);
        }
        std::printf("%s: %zu bytes\n", path.c_str(), m_bytes.size());
    }

    static constexpr uint64_t poisonSeed = 1;

private:
    const char* m_name;
    uint64_t m_elements;
    DType m_type;
    uint64_t m_place;
    std::vector<unsigned char> m_bytes;
    void* m_device = nullptr;
};

// Device memory for the oracle's answer.
class Answer
{
public:
    explicit Answer(uint64_t elements) : m_host(elements)
    {
        check(cudaMalloc(&m_device, (elements ? elements : 1) * sizeof(double)), "the oracle's answer");
    }
    double* device() { return static_cast<double*>(m_device); }
    uint64_t get()
    {
        const size_t bytes = m_host.size() * sizeof(double);
        check(cudaMemcpy(m_host.data(), m_device, bytes, cudaMemcpyDeviceToHost), "the oracle's answer");
        return reinterpret_cast<uint64_t>(m_host.data());
    }

private:
    std::vector<double> m_host;
    void* m_device = nullptr;
};

// As the judge compares; true when the output is right.
inline bool agrees(Buffer& out, Answer& reference, Answer& scale, double u, double elementFactor,
                   double absoluteFactor, double normBound, double length)
{
    CompareResult result = {};
    CompareArgs args = {};
    args.out = out.host();
    args.reference = reference.get();
    args.scale = scale.get();
    args.result = reinterpret_cast<uint64_t>(&result);
    args.dtype = out.type();
    args.unitRoundoff = u;
    args.elementFactor = elementFactor;
    args.absolute = smallestNormalOf(out.type()) * absoluteFactor;
    args.poisonSeed = Buffer::poisonSeed;
    args.poisonKind = PoisonKind::NaN;
    CompareTally tally;
    for (uint64_t i = 0; i < out.elements(); ++i) {
        compareElement(args, i, tally);
    }
    result.worstIndexBits = tally.worst;
    compareFinish(args, out.elements());
    const double size = std::fmax(tally.squaredReference, length > 0 ? tally.squaredScale / length : 0);
    const double norm = std::sqrt(size > 0 ? tally.squaredError / size : tally.squaredError);
    using Count = unsigned long long;
    std::printf("%s: %llu of %llu elements wrong", out.name(), Count(tally.failed), Count(tally.compared));
    if (tally.stillPoison > 0) {
        std::printf(", %llu never written", Count(tally.stillPoison));
    }
    std::printf("; worst [%llu] %.9g where %.9g is right, %.3g of its bound; norm %.3g", Count(result.worstIndex),
                result.worstOut, result.worstRef, result.worstRatio, norm);
    std::printf(normBound > 0 ? " (bound %.3g)\n" : "\n", normBound);
    return tally.failed == 0 && !(normBound > 0 && tally.compared >= 64 && !(norm <= normBound));
}

} // namespace repro
)";

/// Without what belongs to a file of its own.
std::string pasted(std::string_view text)
{
    std::string kept;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, end);
        if (!line.starts_with("#pragma once") && !line.starts_with("#include \"")) {
            kept += line;
        }
        text.remove_prefix(end);
    }
    return kept;
}

} // namespace

std::string reproTools()
{
    std::string operations = pasted(ops::opsText) + pasted(ops::numbersText) + pasted(ops::opsImplText);
    constexpr std::string_view forDevices = "#ifdef __CUDACC__";
    if (const std::size_t at = operations.find(forDevices); at != std::string::npos) {
        operations.replace(at, forDevices.size(), "#if 0 // here they run on the host alone");
    }
    return operations + std::string(tools);
}

} // namespace espalier
