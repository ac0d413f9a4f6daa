// SPDX-License-Identifier: Apache-2.0
#include "tests/propose/answer_forms.h"

#include "core/base/json.h"
#include "core/base/text.h"

namespace espalier {
namespace {

/// A file in the three parts in which it may come.
struct Parts {
    std::string includes, kernels, host;
    std::string all() const { return includes + kernels + host; }
};

Parts partsOf(int version)
{
    const std::string v = std::to_string(version);
    return {
        "#include <cstdint>\n#include <cmath>\n\n",
        "// version " + v +
            "\nconstexpr int kThreads = 256;\n\n"
            "__device__ inline float twice(float x) { return x < 0 && -x > 1 ? x * 2 : 2.0f * x; }\n\n"
            "template <int Unroll>\n"
            "__global__ void __launch_bounds__(256, 2) scaleRows(const float* __restrict__ x, float* y, int64_t n)\n"
            "{\n"
            "    const int64_t stride = (int64_t)gridDim.x * kThreads;\n"
            "    for (int64_t i = blockIdx.x * (int64_t)kThreads + threadIdx.x; i < n; i += stride) {\n"
            "        y[i] = twice(x[i]) * " +
            v +
            ".0f;\n"
            "    }\n"
            "}\n\n",
        "extern \"C\" cudaError_t scale_f32(const float* x, float* y, int64_t n, cudaStream_t stream)\n"
        "{\n"
        "    if (n > 0 && x != nullptr) {\n"
        "        scaleRows<4><<<(unsigned)((n + 255) / 256), kThreads, 0, stream>>>(x, y, n);\n"
        "    }\n"
        "    return cudaGetLastError();\n"
        "}\n"};
}

std::string replaced(std::string text, const std::string& what, const std::string& with)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
}

std::string fence(const std::string& language, const std::string& code, const std::string& marks = "```")
{
    return marks + language + "\n" + code + marks + "\n";
}

std::string prefixed(const std::string& text, const std::string& prefix)
{
    std::string out;
    for (const std::string_view line : splitLines(text)) {
        out.append(prefix).append(line) += '\n';
    }
    return out;
}

std::string numbered(const std::string& text, const std::string& sign)
{
    std::string out;
    int number = 0;
    for (const std::string_view line : splitLines(text)) {
        out.append(std::to_string(++number)).append(sign).append(line) += '\n';
    }
    return out;
}

std::string escaped(const std::string& code)
{
    return replaced(replaced(replaced(replaced(code, "&", "&amp;"), "<", "&lt;"), ">", "&gt;"), "\"", "&quot;");
}

/// Of ASCII only.
std::string widened(const std::string& text, bool bigEndian, const std::string& mark)
{
    std::string out = mark;
    for (const char byte : text) {
        out += bigEndian ? '\0' : byte;
        out += bigEndian ? byte : '\0';
    }
    return out;
}

Json linesOf(const std::string& text)
{
    Json lines = Json::array();
    for (const std::string_view line : splitLines(text)) {
        lines.push_back(line);
    }
    return lines;
}

/// Collects forms; every one gets the next version of the file.
class Forms
{
public:
    template <typename Write>
    void good(const std::string& name, const Write& write)
    {
        const Parts parts = partsOf(next());
        m_forms.push_back({name, write(parts), parts.all(), ""});
    }
    template <typename Write>
    void bad(const std::string& name, const std::string& reason, const Write& write)
    {
        m_forms.push_back({name, write(partsOf(next())), "", reason});
    }
    std::vector<AnswerForm> take() { return std::move(m_forms); }

private:
    int next() { return static_cast<int>(m_forms.size()) + 1; }
    std::vector<AnswerForm> m_forms;
};

void fencedForms(Forms& forms)
{
    forms.good("plain", [](const Parts& p) { return "Rows first.\n\n" + fence("cuda", p.all()); });
    for (const char* language : {"c++", "CUDA", "cu", "cuda:kernels/scale.cu", "{.cuda .numberLines}", ""}) {
        forms.good(std::string("fence ") + language, [&](const Parts& p) { return fence(language, p.all()); });
    }
    forms.good("attributes",
               [](const Parts& p) { return "==========\n" + fence("cuda title=\"scale.cu\" linenos=true", p.all()); });
    forms.good("tilde", [](const Parts& p) { return fence("cuda", p.all(), "~~~"); });
    forms.good("in a document", [](const Parts& p) {
        return "| step | gain |\n|---|---|\n| a | 2x |\n\n" +
               fence("markdown", "# Kernel\n" + fence("cuda", p.all()), "````");
    });
    forms.good("in a list", [](const Parts& p) {
        return "1. The file:\n" + prefixed(fence("cuda", p.all()), "   ") + "2. Done.\n";
    });
    forms.good("language on the next line", [](const Parts& p) { return fence("", "cuda\n" + p.all()); });
    forms.good("behind words", [](const Parts& p) { return "Sure, here it is: ```cuda\n" + p.all() + "```\nDone."; });
    forms.good("closed behind the last brace", [](const Parts& p) {
        return "```cuda\n" + p.all().substr(0, p.all().size() - 1) + "```\n\nIt keeps all loads coalesced.";
    });
    forms.good("never closed", [](const Parts& p) { return "```cuda\n" + p.all(); });
    forms.good("quoted", [](const Parts& p) { return "As asked:\n\n" + prefixed(fence("cuda", p.all()), "> "); });
    forms.good("draft in thoughts", [](const Parts& p) {
        return "<think>\nperhaps ```cuda\nint draft;\n```\nor not\n</think>\n" + fence("cuda", p.all());
    });
    forms.good("the old one after it", [](const Parts& p) {
        return fence("cuda", p.all()) + "\nFor comparison, the old one:\n\n" +
               fence("cuda", p.all() + "// the version before this one, with a comment that makes it the longest\n");
    });
    forms.good("two alternatives", [](const Parts& p) {
        return "Naive version:\n\n" + fence("cuda", "// safe but slow\n" + partsOf(900).all()) +
               "\nRecommended version:\n\n" + fence("cuda", p.all());
    });
    forms.good("with an example of its use", [](const Parts& p) {
        return fence("cuda", p.all()) + "\nCall it so:\n\n" +
               fence("cpp", "cudaStream_t stream;\nscale_f32(x, y, n, stream);\ncudaStreamSynchronize(stream);\n");
    });
}

void partedForms(Forms& forms)
{
    forms.good("two blocks", [](const Parts& p) {
        return "First the kernel:\n\n" + fence("cuda", p.includes + p.kernels) +
               "\nand the function that launches it:\n\n" + fence("cuda", p.host);
    });
    forms.good("host first", [](const Parts& p) {
        return "The host's side:\n\n" + fence("cpp", p.includes + p.host) + "\nThe device's side:\n\n" +
               fence("cuda", p.kernels);
    });
    forms.good("three blocks", [](const Parts& p) {
        const std::size_t split = p.kernels.find("template");
        return fence("cuda", p.includes + p.kernels.substr(0, split)) + "Kernel\n" +
               fence("cuda", p.kernels.substr(split)) + "Launch\n" + fence("cuda", p.host);
    });
    forms.good("header and file", [](const Parts& p) {
        return "`rows.cuh`\n\n" + fence("cuda", p.includes + p.kernels) + "\n`scale.cu`\n\n" +
               fence("cuda", "#include \"rows.cuh\"\n\n" + p.host);
    });
}

void wrappedForms(Forms& forms)
{
    forms.good("json", [](const Parts& p) { return Json{{"thought", "a block a row"}, {"code", p.all()}}.dump(); });
    forms.good("json in a fence",
               [](const Parts& p) { return fence("json", Json{{"kernel", p.all()}}.dump(1) + "\n"); });
    forms.good("json of lines", [](const Parts& p) { return Json{{"source", linesOf(p.all())}}.dump(1); });
    forms.good("json of files", [](const Parts& p) {
        return "Files:\n" + Json{{"files", {{{"path", "scale.cu"}, {"content", p.all()}}}}}.dump();
    });
    forms.good("json with a fence inside",
               [](const Parts& p) { return Json{{"answer", "The kernel:\n" + fence("cuda", p.all())}}.dump(); });
    forms.good("json with raw line ends", [](const Parts& p) {
        return "{\"explanation\": \"one pass\", \"code\": \"" + replaced(p.all(), "\"", "\\\"") + "\"}";
    });
    forms.good("tool call", [](const Parts& p) {
        const std::string arguments = Json{{"path", "scale.cu"}, {"content", p.all()}}.dump();
        return Json{{"name", "write_file"}, {"arguments", arguments}}.dump();
    });
    for (const char* tag : {"code", "kernel", "answer"}) {
        forms.good(std::string("<") + tag + ">", [tag](const Parts& p) {
            return std::string("One pass.\n<") + tag + ">\n" + p.all() + "</" + tag + ">\nThat is all.";
        });
    }
    forms.good("<file path>",
               [](const Parts& p) { return "<files>\n<file path=\"scale.cu\">\n" + p.all() + "</file>\n</files>\n"; });
    forms.good("CDATA", [](const Parts& p) { return "<code language=\"cuda\"><![CDATA[\n" + p.all() + "]]></code>"; });
    forms.good("<answer> around a fence",
               [](const Parts& p) { return "<answer>```cuda\n" + p.all() + "```</answer>\n"; });
    forms.good("[code]", [](const Parts& p) { return "[code]\n" + p.all() + "[/code]\n"; });
    forms.good("lstlisting",
               [](const Parts& p) { return "\\begin{lstlisting}[language=C++]\n" + p.all() + "\\end{lstlisting}\n"; });
    forms.good("Python's string", [](const Parts& p) {
        return fence("python", "from torch.utils.cpp_extension import load_inline\n\nsource = r\"\"\"\n" + p.all() +
                                   "\"\"\"\nmodule = load_inline(\"scale\", \"\", source)\n");
    });
    forms.good("here-document", [](const Parts& p) {
        return fence("bash", "cat > scale.cu <<'EOF'\n" + p.all() + "EOF\nnvcc -c scale.cu\n");
    });
}

void bareForms(Forms& forms)
{
    forms.good("no fence", [](const Parts& p) { return "Sure, here it is:\n\n" + p.all(); });
    forms.good("no fence, words after it", [](const Parts& p) {
        return p.all() + "\nThis doesn't need shared memory (see above); each thread strides over its elements.\n\n"
                         "- coalesced\n- no tail\n";
    });
    forms.good("indented", [](const Parts& p) { return prefixed(p.all(), "    "); });
    forms.good("escaped for HTML", [](const Parts& p) { return "<pre><code>\n" + escaped(p.all()) + "</code></pre>"; });
    forms.good("escaped in a fence", [](const Parts& p) { return fence("cuda", escaped(p.all())); });
    forms.good("one line", [](const Parts& p) {
        return fence("cuda", replaced(replaced(p.all(), "\\", "\\\\"), "\n", "\\n") + "\n");
    });
    forms.good("numbers |", [](const Parts& p) { return fence("cuda", numbered(p.all(), " | ")); });
    forms.good("numbers :", [](const Parts& p) { return fence("cuda", numbered(p.all(), ": ")); });
    forms.good("numbers, tab", [](const Parts& p) { return fence("cuda", numbered(p.all(), "\t")); });
    forms.good("typographic quotes",
               [](const Parts& p) { return fence("cuda", replaced(p.all(), "\"C\"", "\u201cC\u201d")); });
    forms.good("hard blanks",
               [](const Parts& p) { return fence("cuda", replaced(p.all(), "    ", "\u00a0\u00a0\u00a0\u00a0")); });
    forms.good("dashes", [](const Parts& p) { return fence("cuda", replaced(p.all(), "-x", "\u2212x")); });
    forms.good("blanks without width",
               [](const Parts& p) { return fence("cuda", replaced(p.all(), "blockIdx", "\u200bblockIdx")); });
}

void byteForms(Forms& forms)
{
    forms.good("CRLF", [](const Parts& p) { return replaced("Here:\n" + fence("cuda", p.all()), "\n", "\r\n"); });
    forms.good("no fence, CRLF", [](const Parts& p) { return replaced(p.all(), "\n", "\r\n"); });
    forms.good("mark of UTF-8", [](const Parts& p) { return "\xef\xbb\xbf" + p.all(); });
    forms.good("UTF-16", [](const Parts& p) { return widened(fence("cuda", p.all()), false, "\xff\xfe"); });
    forms.good("UTF-16, big end", [](const Parts& p) { return widened(fence("cuda", p.all()), true, "\xfe\xff"); });
    forms.good("UTF-16 without a mark", [](const Parts& p) { return widened(fence("cuda", p.all()), false, ""); });
    forms.good("zero bytes", [](const Parts& p) {
        return "```cuda\n" + replaced(p.all(), "kThreads", std::string("kThr\0eads", 9)) + "```\n";
    });
    forms.good("Latin-1", [](const Parts& p) {
        return "Gr\xf6\xdf"
               "er:\n" +
               fence("cuda", p.all());
    });
    forms.good("colours", [](const Parts& p) {
        return fence("cuda", replaced(p.all(), "__global__", "\x1b[1;34m__global__\x1b[0m"));
    });
}

void hopelessForms(Forms& forms)
{
    forms.bad("refusal", "no CUDA source",
              [](const Parts&) { return std::string("I'm sorry, but I can't help with that."); });
    forms.bad("nothing", "It is empty", [](const Parts&) { return std::string("\n"); });
    forms.bad("cut", "closing fence",
              [](const Parts& p) { return "```cuda\n" + p.all().substr(0, p.all().find("cudaGetLastError")); });
    forms.bad("parts left out", "does not define", [](const Parts& p) {
        return fence("cuda", p.includes + p.kernels + "// ... scale_f32 stays as it was ...\n");
    });
    forms.bad("rest unchanged", "does not define",
              [](const Parts& p) { return fence("cuda", p.includes + p.kernels + "\n// ... rest unchanged ...\n"); });
    forms.bad("diff", "a diff", [](const Parts&) {
        return fence("diff", "--- a/scale.cu\n+++ b/scale.cu\n@@ -1,2 +1,2 @@\n-constexpr int kThreads = 256;\n"
                             "+constexpr int kThreads = 512;\n");
    });
    forms.bad("diff in a fence for CUDA", "a diff",
              [](const Parts& p) { return fence("cuda", "@@ -1,20 +1,20 @@\n" + prefixed(p.all(), " ")); });
    forms.bad("search and replace", "a diff", [](const Parts&) {
        return std::string("<<<<<<< SEARCH\nconstexpr int kThreads = 256;\n=======\nconstexpr int kThreads = 512;\n"
                           ">>>>>>> REPLACE\n");
    });
    forms.bad("another language", "only python", [](const Parts&) {
        return fence("python", "import triton\n\n@triton.jit\ndef scale(x, y):\n    pass\n");
    });
}

} // namespace

std::vector<AnswerForm> answerForms()
{
    Forms forms;
    fencedForms(forms);
    partedForms(forms);
    wrappedForms(forms);
    bareForms(forms);
    byteForms(forms);
    hopelessForms(forms);
    return forms.take();
}

} // namespace espalier
