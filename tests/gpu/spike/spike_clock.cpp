// SPDX-License-Identifier: Apache-2.0
// Question 3 of the spike: timing by blocks, two runners alternating on one GPU.
#include "tests/gpu/spike/spike_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

namespace spike {

namespace {

constexpr std::uint32_t sets = 4;
constexpr std::uint32_t sizes[] = {1, 2, 4, 8, 16, 32};

struct Sample {
    double wall = 0;
    double host = 0;
    std::vector<double> events;
};

double median(std::vector<double> values)
{
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double robustDeviation(const std::vector<double>& values)
{
    const double middle = median(values);
    std::vector<double> distances;
    for (const double value : values) {
        distances.push_back(std::abs(value - middle));
    }
    return 1.4826 * median(distances);
}

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Half the width of the 95 % bootstrap interval of median(a) / median(b).
double ratioHalfWidth(const std::vector<double>& a, const std::vector<double>& b)
{
    std::mt19937 random(1);
    std::vector<double> ratios;
    auto draw = [&](const std::vector<double>& from) {
        std::vector<double> to;
        for (std::size_t i = 0; i < from.size(); ++i) {
            to.push_back(from[random() % from.size()]);
        }
        return median(to);
    };
    for (int i = 0; i < 1000; ++i) {
        ratios.push_back(draw(a) / draw(b));
    }
    std::sort(ratios.begin(), ratios.end());
    return (ratios[974] - ratios[25]) / 2;
}

class ClockTest
{
public:
    ClockTest(Bench& bench, std::FILE* csv) : m_bench(bench), m_csv(csv) {}

    void prepare(std::uint64_t mostElements);
    void size(const char* name, std::uint64_t elements, bool withJudge);
    void calibrate();

private:
    Sample block(int runner, std::uint32_t count, std::uint64_t elements, bool launch, bool withJudge);
    void report(const char* name, std::uint32_t count, const std::vector<Sample> (&samples)[2]);

    Bench& m_bench;
    std::FILE* m_csv;
    std::vector<Peer> m_peers;
    std::vector<Buffer> m_buffers;
    std::map<std::uint32_t, std::pair<double, double>> m_empty; ///< by block size: wall, event reading
    std::uint64_t m_seed = 1;
};

void ClockTest::prepare(std::uint64_t mostElements)
{
    for (std::uint32_t i = 0; i < 2 * sets; ++i) {
        m_buffers.push_back(m_bench.allocate(mostElements * 4));
    }
    for (int i = 0; i < 2; ++i) {
        m_peers.emplace_back();
        if (const std::string why = m_peers.back().prepare(m_bench); !why.empty()) {
            std::printf("clock test: runner %d: %s\n", i, why.c_str());
            std::exit(1);
        }
        for (std::uint32_t slot = 0; slot < 2 * sets; ++slot) {
            m_peers.back().map(m_bench, slot, m_buffers[slot], slot % 2 == 1);
        }
    }
}

Sample ClockTest::block(int runner, std::uint32_t count, std::uint64_t elements, bool launch, bool withJudge)
{
    const std::uint32_t used = std::min(count, sets);
    if (withJudge && launch) {
        ++m_seed;
        for (std::uint32_t set = 0; set < used; ++set) {
            m_bench.fill(m_buffers[2 * set], elements, m_seed + set);
            m_bench.poison({m_buffers[2 * set + 1].address, elements * 4, {}});
        }
    }
    Sample sample;
    const double begin = now();
    const Reply reply = m_peers[static_cast<std::size_t>(runner)].ask(
        {.verb = Verb::Block, .count = count, .launch = launch, .sets = sets, .elements = elements});
    sample.wall = now() - begin;
    sample.host = reply.hostMicroseconds;
    sample.events.assign(reply.values, reply.values + reply.count);
    std::uint64_t wrong = 0;
    if (withJudge && launch) {
        for (std::uint32_t set = 0; set < used; ++set) {
            wrong += m_bench.check(m_buffers[2 * set + 1], elements, m_seed + set, 1);
        }
    }
    if (reply.status || wrong) {
        std::printf("block failed: status %d %s, wrong outputs %lu\n", reply.status, reply.text, wrong);
    }
    std::fprintf(m_csv, "%d,%u,%lu,%d,%d,%.2f,%.2f", runner, count, elements, launch, withJudge, sample.wall,
                 sample.host);
    for (const double event : sample.events) {
        std::fprintf(m_csv, ",%.3f", event);
    }
    std::fprintf(m_csv, "\n");
    return sample;
}

void ClockTest::calibrate()
{
    std::printf("\nempty blocks (displacement and events only)\n  B   wall us  dev us  host us  event us\n");
    for (const std::uint32_t count : sizes) {
        std::vector<double> walls, hosts, events;
        for (int i = 0; i < 40; ++i) {
            // A judge operation before each, so that the context switch is in the constant as it is in real blocks.
            m_bench.poison({m_buffers[1].address, 1u << 20, {}});
            const Sample sample = block(i % 2, count, 0, false, true);
            walls.push_back(sample.wall);
            hosts.push_back(sample.host);
            events.push_back(median(sample.events));
        }
        m_empty[count] = {median(walls), median(events)};
        std::printf("%3u %9.1f %7.1f %8.1f %9.2f\n", count, median(walls), robustDeviation(walls), median(hosts),
                    median(events));
    }
}

void ClockTest::report(const char* name, std::uint32_t count, const std::vector<Sample> (&samples)[2])
{
    std::vector<double> first, second, spread, bias, hostBias;
    std::vector<double> medians[2], walls[2];
    const auto [emptyWall, emptyEvent] = m_empty[count];
    for (int runner = 0; runner < 2; ++runner) {
        for (const Sample& sample : samples[runner]) {
            const std::vector<double> rest(sample.events.begin() + (count > 2 ? 2 : 0), sample.events.end());
            const double middle = median(rest);
            const double all = mean(sample.events);
            const double judged = (sample.wall - emptyWall) / count + emptyEvent;
            medians[runner].push_back(median(sample.events));
            walls[runner].push_back(judged);
            first.push_back(sample.events[0] / middle);
            second.push_back(count > 1 ? sample.events[1] / middle : 1);
            spread.push_back(robustDeviation(rest) / middle);
            bias.push_back(judged / all - 1);
            hostBias.push_back((sample.host - emptyWall) / count / all);
        }
    }
    std::vector<double> all = medians[0];
    all.insert(all.end(), medians[1].begin(), medians[1].end());
    std::vector<double> worst;
    for (const double value : bias) {
        worst.push_back(std::abs(value));
    }
    std::sort(worst.begin(), worst.end());
    std::printf("%-10s %3u %8.2f %6.2f %6.3f %6.3f %8.2f %7.2f %8.2f | %8.5f ±%.5f | %8.5f ±%.5f\n", name, count,
                median(all), 100 * median(spread), median(first), median(second), 100 * median(bias),
                100 * robustDeviation(bias), 100 * worst[worst.size() * 95 / 100],
                median(medians[0]) / median(medians[1]), ratioHalfWidth(medians[0], medians[1]),
                median(walls[0]) / median(walls[1]), ratioHalfWidth(walls[0], walls[1]));
}

void ClockTest::size(const char* name, std::uint64_t elements, bool withJudge)
{
    for (const std::uint32_t count : sizes) {
        std::vector<Sample> samples[2];
        for (int round = 0; round < 15; ++round) {
            for (const int runner : {0, 1, 1, 0}) {
                samples[runner].push_back(block(runner, count, elements, true, withJudge));
            }
        }
        report(name, count, samples);
    }
}

} // namespace

void clockTests(Bench& bench, const std::string& csvPath)
{
    std::FILE* csv = std::fopen(csvPath.c_str(), "w");
    if (!csv) {
        std::perror(csvPath.c_str());
        return;
    }
    std::fprintf(csv, "runner,count,elements,launch,judge,wall,host,events\n");
    ClockTest test(bench, csv);
    test.prepare(1u << 28);
    test.calibrate();
    std::printf(
        "\nname         B  event us spread%%  1st    2nd   bias%%   noise%%  95%%of|bias| | null ratio, events | null "
        "ratio, judge's clock\n");
    test.size("3us", 1u << 16, true);
    test.size("30us", 14u << 20, true);
    test.size("300us", 1u << 27, true);
    test.size("600us", 1u << 28, true);
    std::printf("without judge operations between blocks\n");
    test.size("3us-q", 1u << 16, false);
    test.size("30us-q", 14u << 20, false);
    test.size("300us-q", 1u << 27, false);
    test.calibrate();
    std::fclose(csv);
}

} // namespace spike
