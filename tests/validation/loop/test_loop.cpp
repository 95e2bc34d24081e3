#include "tests/catch.h"
#include "tests/validation/loop/perceptron.h"
#include "tests/validation/loop/reducer.h"
#include "tests/validation/loop/training.h"

#include <atomic>
#include <barrier>
#include <cmath>

using namespace trainyard::loop;

namespace {

// Ranks that are threads of this process.
class ThreadRanks {
public:
    explicit ThreadRanks(int ranks) : ranks_(ranks), meeting_(ranks) {}

    // Calls `body` as each rank, all at once.
    template <class F>
    void run(F body)
    {
        std::vector<std::thread> threads;
        for (int rank = 0; rank < ranks_; ++rank)
            threads.emplace_back([this, rank, &body] {
                Member group(*this, rank);
                body(group);
            });
        for (std::thread& thread : threads)
            thread.join();
    }

private:
    struct Member final : Group {
        Member(ThreadRanks& all, int number) : all_(all), number_(number) {}
        int rank() const override { return number_; }
        int ranks() const override { return all_.ranks_; }
        void sum(std::span<float> values) override
        {
            all_.combine(all_.floats_, number_, values, [](float a, float b) { return a + b; });
        }
        void largest(std::span<double> values) override
        {
            all_.combine(all_.doubles_, number_, values,
                         [](double a, double b) { return std::max(a, b); });
        }
        ThreadRanks& all_;
        int number_;
    };

    template <class T, class F>
    void combine(std::vector<std::vector<T>>& held, int rank, std::span<T> values, F add)
    {
        held[static_cast<std::size_t>(rank)].assign(values.begin(), values.end());
        meeting_.arrive_and_wait();
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = held[0][i];
            for (int other = 1; other < ranks_; ++other)
                values[i] = add(values[i], held[static_cast<std::size_t>(other)][i]);
        }
        meeting_.arrive_and_wait();
    }

    int ranks_;
    std::barrier<> meeting_;
    std::vector<std::vector<float>> floats_ = std::vector<std::vector<float>>(16);
    std::vector<std::vector<double>> doubles_ = std::vector<std::vector<double>>(16);
};

const NetworkSizes small{{5, 9, 7, 3}, 6};

std::vector<float> copied(std::span<const float> values)
{
    return {values.begin(), values.end()};
}

} // namespace

TEST_CASE("the loss changes along its gradient as the gradient's length says")
{
    // L(w + e g) - L(w - e g) = 2 e |g|^2 + O(e^3).
    Perceptron network(small, 3);
    network.draw_samples(4);
    network.forward();
    network.backward([](std::size_t) {});
    const std::vector<float> gradients = copied(network.gradients());
    double length = 0;
    for (const float g : gradients)
        length += static_cast<double>(g) * static_cast<double>(g);
    REQUIRE(length > 0.01);
    constexpr float step = 2e-4f; // so short that hardly a rectifier opens or closes
    const auto loss_at = [&](float shift) {
        for (std::size_t i = 0; i < gradients.size(); ++i)
            network.parameters()[i] += shift * gradients[i];
        return network.forward();
    };
    const double above = loss_at(step);
    const double below = loss_at(-2 * step);
    CHECK((above - below) / (2 * step) == Approx(length).epsilon(0.01));
}

TEST_CASE("every parameter has the gradient that finite differences give")
{
    Perceptron network(small, 3);
    network.draw_samples(4);
    network.forward();
    network.backward([](std::size_t) {});
    const std::vector<float> gradients = copied(network.gradients());
    constexpr float step = 1e-2f;
    int off = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        float& parameter = network.parameters()[i];
        const float kept = parameter;
        parameter = kept + step;
        const double above = network.forward();
        parameter = kept - step;
        const double below = network.forward();
        parameter = kept;
        const double found = (above - below) / (2 * static_cast<double>(step));
        off += std::abs(found - static_cast<double>(gradients[i])) > 0.01;
    }
    // A rectifier may open or close within a step.
    CHECK(off <= static_cast<int>(gradients.size()) / 20);
}

TEST_CASE("gradients come tensor by tensor from the last layer to the first")
{
    Perceptron network(small, 1);
    network.draw_samples(2);
    network.forward();
    std::vector<std::size_t> ends;
    network.backward([&](std::size_t count) { ends.push_back(count); });
    std::vector<std::size_t> expected;
    std::size_t end = 0;
    for (const std::size_t size : network.tensor_sizes())
        expected.push_back(end += size);
    CHECK(ends == expected);
    CHECK(ends.back() == network.gradients().size());
    CHECK(network.tensor_sizes() == std::vector<std::size_t>{3, 21, 7, 63, 9, 45});
}

TEST_CASE("buckets hold whole tensors and close at their limit")
{
    // Of 40, 40, 400, 40, 400 bytes: the first closes at 80, others at 440.
    CHECK(bucket_ends({10, 10, 100, 10, 100}, {80, 440}) == std::vector<std::size_t>{20, 130, 230});
    CHECK(bucket_ends({10, 10}, {1000, 1000}) == std::vector<std::size_t>{20});
    CHECK(bucket_ends({10, 10}, {1, 1}) == std::vector<std::size_t>{10, 20});
}

TEST_CASE("each rank ends with the same parameters, reduced in buckets or at once")
{
    TrainingPlan plan{small, std::nullopt, 3, 2};
    std::vector<TrainingResult> results;
    for (const auto& overlap : {std::optional<BucketLimits>{}, std::optional(BucketLimits{1, 1}),
                                std::optional(BucketLimits{64, 200})})
        for (const int ranks : {2, 3}) {
            plan.overlap = overlap;
            std::vector<TrainingResult> each(static_cast<std::size_t>(ranks));
            ThreadRanks(ranks).run([&](Group& group) {
                each[static_cast<std::size_t>(group.rank())] = train(group, plan);
            });
            for (const TrainingResult& result : each) {
                CHECK(result.ranks_agree);
                CHECK(result.bytes_per_step == 4 * (3 + 21 + 7 + 63 + 9 + 45));
                CHECK(result.steps.size() == 3);
                CHECK(result.last_loss < result.first_loss);
            }
            results.push_back(each.front());
        }
    CHECK(results[0].buckets == 1);
    CHECK(results[2].buckets == 6);
    // 3 + 21 elements fill the first, 7 + 63 the next, 9 + 45 the last.
    CHECK(results[4].buckets == 3);
    // What is summed does not depend on how.
    CHECK(results[2].last_loss == results[0].last_loss);
    CHECK(results[4].last_loss == results[0].last_loss);
    CHECK(results[5].last_loss == results[1].last_loss);
}

TEST_CASE("ranks that differ are seen")
{
    std::atomic<int> agree = 0;
    ThreadRanks(2).run([&](Group& group) {
        // A sum that one rank gets wrong.
        struct Faulty final : Group {
            explicit Faulty(Group& other) : right(other) {}
            int rank() const override { return right.rank(); }
            int ranks() const override { return right.ranks(); }
            void sum(std::span<float> values) override
            {
                right.sum(values);
                if (rank() == 1)
                    values[values.size() / 2] += 1e-3f;
            }
            void largest(std::span<double> values) override { right.largest(values); }
            Group& right;
        } faulty(group);
        agree += train(faulty, {small, std::nullopt, 1, 1}).ranks_agree ? 1 : 0;
    });
    CHECK(agree == 0);
}
