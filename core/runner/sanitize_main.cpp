// SPDX-License-Identifier: Apache-2.0
#include "core/runner/sanitize_main.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/runner/entry_point_gate.h"
#include "core/runner/native_call.h"
#include "core/runner/runner_main.h"

#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace espalier::runner {

namespace {

constexpr int candidateFailed = 20, ourFailure = 21;
constexpr int copyToDevice = 1;           // cudaMemcpyHostToDevice
constexpr unsigned nonBlockingStream = 1; // cudaStreamNonBlocking

/// What is needed of the CUDA runtime, which the worker does not link.
struct Runtime {
    int (*setDevice)(int) = nullptr;
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr;
    int (*createStream)(void**, unsigned) = nullptr;
    int (*synchronize)(void*) = nullptr;

    static Result<Runtime> bind()
    {
        Runtime runtime;
        bool all = true;
        const auto find = [&all]<typename F>(F*& function, const char* name) {
            function = reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
            all = all && function;
        };
        find(runtime.setDevice, "cudaSetDevice");
        find(runtime.allocate, "cudaMalloc");
        find(runtime.copy, "cudaMemcpy");
        find(runtime.createStream, "cudaStreamCreateWithFlags");
        find(runtime.synchronize, "cudaStreamSynchronize");
        return all ? Result<Runtime>(runtime) : fail(ErrorCode::NotFound, "the CUDA runtime lacks a function");
    }
};

Result<void> checked(int status, const char* what)
{
    return status == 0 ? Result<void>()
                       : fail(ErrorCode::Internal, fmt::format("{} returned CUDA error {}", what, status));
}

Result<std::uint64_t> digits(const JsonReader& json)
{
    ESPALIER_TRY(const std::string text, json.string());
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? Result<std::uint64_t>(value)
                                                                               : json.complain("decimal digits");
}

class Session
{
public:
    Session(std::filesystem::path folder, Runtime runtime) : m_folder(std::move(folder)), m_runtime(runtime) {}

    /// 0, or what a call returned. Errors: what of ours failed.
    Result<int> run()
    {
        ESPALIER_TRY(const std::string text, readFile(m_folder / "request.json", std::size_t{16} << 20));
        ESPALIER_TRY(const Json json, parseJson(text, "request.json"));
        const JsonReader request(json, "request.json");
        ESPALIER_TRY(const JsonReader entryField, request.at("entry"));
        ESPALIER_TRY(const std::string entry, entryField.string());
        ESPALIER_TRY(const JsonReader callsField, request.at("calls"));
        ESPALIER_TRY(const std::vector<JsonReader> calls, callsField.items());
        ESPALIER_CHECK(checked(m_runtime.createStream(&m_stream, nonBlockingStream), "cudaStreamCreateWithFlags"));
        installEntryPointGate(false, m_stream);
        const std::string library = (m_folder / "library.so").string();
        void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            return fail(ErrorCode::InvalidInput, fmt::format("the library cannot be loaded: {}", ::dlerror()));
        }
        m_entry = ::dlsym(handle, entry.c_str());
        m_workspace = ::dlsym(handle, (entry + "_workspace").c_str());
        if (!m_entry) {
            return fail(ErrorCode::InvalidInput, fmt::format("the library has no function {}", entry));
        }
        for (const JsonReader& call : calls) {
            ESPALIER_TRY(const int status, make(call));
            if (status != 0) {
                return status;
            }
        }
        return 0;
    }

private:
    Result<CallValue> buffer(std::uint64_t bytes)
    {
        void* address = nullptr;
        // Of size 0 there is nothing to allocate; the tool would not know it either.
        if (bytes > 0) {
            ESPALIER_CHECK(checked(m_runtime.allocate(&address, bytes), "cudaMalloc"));
        }
        m_addresses.push_back(reinterpret_cast<std::uint64_t>(address));
        return CallValue{ValueKind::Pointer, static_cast<std::uint32_t>(m_addresses.size() - 1), 0};
    }

    Result<CallValue> value(const JsonReader& json, bool& scalar)
    {
        ESPALIER_TRY(const JsonReader kindField, json.at("kind"));
        ESPALIER_TRY(const std::string kind, kindField.oneOf({"input", "output", "scalar"}));
        scalar = kind == "scalar";
        if (scalar) {
            ESPALIER_TRY(const JsonReader typeField, json.at("type"));
            ESPALIER_TRY(const std::int64_t type, typeField.integer());
            ESPALIER_TRY(const JsonReader bitsField, json.at("bits"));
            ESPALIER_TRY(const std::uint64_t bits, digits(bitsField));
            if (type < static_cast<int>(ValueKind::U8) || type > static_cast<int>(ValueKind::F64)) {
                return typeField.complain("a scalar's kind");
            }
            return CallValue{static_cast<ValueKind>(type), 0, bits};
        }
        ESPALIER_TRY(const JsonReader bytesField, json.at("bytes"));
        ESPALIER_TRY(const std::uint64_t bytes, digits(bytesField));
        ESPALIER_TRY(const CallValue place, buffer(bytes));
        if (kind == "input") {
            ESPALIER_TRY(const JsonReader fileField, json.at("file"));
            ESPALIER_TRY(const std::string file, fileField.string());
            ESPALIER_TRY(const std::string content, readFile(m_folder / file, std::size_t{1} << 30));
            if (content.size() != bytes) {
                return json.complain("a file of that many bytes");
            }
            if (bytes > 0) {
                ESPALIER_CHECK(checked(m_runtime.copy(reinterpret_cast<void*>(m_addresses[place.slot]), content.data(),
                                                      bytes, copyToDevice),
                                       "cudaMemcpy"));
            }
        }
        return place;
    }

    Result<int> make(const JsonReader& json)
    {
        ESPALIER_TRY(const std::vector<JsonReader> items, json.items());
        Call call, sizes;
        for (const JsonReader& item : items) {
            bool scalar = false;
            ESPALIER_TRY(const CallValue one, value(item, scalar));
            call.values.push_back(one);
            if (scalar) {
                sizes.values.push_back(one);
            }
        }
        std::uint64_t bytes = 0;
        if (m_workspace) {
            ESPALIER_TRY(const NativeCall size,
                         NativeCall::prepare(m_workspace, sizes, m_addresses, m_stream, NativeCall::Returns::Size));
            bytes = size.callSize();
        }
        if (bytes > 0) {
            ESPALIER_TRY(const CallValue workspace, buffer(bytes));
            call.values.push_back(workspace);
        } else {
            call.values.push_back({ValueKind::Null, 0, 0});
        }
        call.values.push_back({ValueKind::I64, 0, bytes});
        call.values.push_back({ValueKind::Stream, 0, 0});
        ESPALIER_TRY(const NativeCall native,
                     NativeCall::prepare(m_entry, call, m_addresses, m_stream, NativeCall::Returns::Int));
        const int status = native.callInt();
        return status != 0 ? status : m_runtime.synchronize(m_stream);
    }

    std::filesystem::path m_folder;
    Runtime m_runtime;
    void* m_stream = nullptr;
    void *m_entry = nullptr, *m_workspace = nullptr;
    std::vector<std::uint64_t> m_addresses;
};

Result<int> sanitize(int argc, char** argv)
{
    std::string folder, device, runtimePath = "libcudart.so.13";
    for (int i = 0; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--device" && i + 1 < argc) {
            device = argv[++i];
        } else if (word == "--runtime" && i + 1 < argc) {
            runtimePath = argv[++i];
        } else {
            folder = word;
        }
    }
    if (folder.empty() || !device.starts_with("cuda:")) {
        return fail(ErrorCode::InvalidInput, "it needs a folder and --device cuda:N");
    }
    ESPALIER_CHECK(bindCudaRuntime(runtimePath));
    ESPALIER_TRY(const Runtime runtime, Runtime::bind());
    ESPALIER_CHECK(checked(runtime.setDevice(std::atoi(device.c_str() + 5)), "cudaSetDevice"));
    return Session(folder, runtime).run();
}

} // namespace

int sanitizeMain(int argc, char** argv)
{
    const auto status = sanitize(argc, argv);
    if (!status) {
        fmt::print(stderr, "espalier-worker sanitize: {}\n", status.error().message);
        return ourFailure;
    }
    if (*status != 0) {
        fmt::print(stderr, "espalier-worker sanitize: a call returned CUDA error {}\n", *status);
        return candidateFailed;
    }
    return 0;
}

} // namespace espalier::runner
