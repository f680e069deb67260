// The same graphs for oneTBB: build with `g++ -O2 tbb.cpp -ltbb`, run with the number of tasks.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>
#include <vector>

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

static const int THREADS = 2;
static const int RUNS = 7;

static void work() { asm volatile("" ::: "memory"); }

// A graph of `count` nodes, each of which waits for those that `reads` adds.
template <typename Reads> static void graph(size_t count, Reads reads) {
    flow::graph graph;
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.reserve(count);
    std::vector<size_t> before;
    std::vector<size_t> sources;
    for (size_t at = 0; at < count; at++) {
        nodes.push_back(std::make_unique<Node>(graph, [](const flow::continue_msg &) { work(); }));
        before.clear();
        reads(at, before);
        for (size_t from : before)
            flow::make_edge(*nodes[from], *nodes[at]);
        if (before.empty())
            sources.push_back(at);
    }
    for (size_t at : sources)
        nodes[at]->try_put(flow::continue_msg());
    graph.wait_for_all();
}

static void independent(size_t tasks) {
    oneapi::tbb::task_group group;
    for (size_t at = 0; at < tasks; at++)
        group.run(work);
    group.wait();
}

static void chain(size_t tasks) {
    graph(tasks, [](size_t at, std::vector<size_t> &before) {
        if (at > 0)
            before.push_back(at - 1);
    });
}

static void diamonds(size_t tasks) {
    graph(tasks, [](size_t at, std::vector<size_t> &before) {
        if (at % 3 == 0 && at > 0) {
            before.push_back(at - 2);
            before.push_back(at - 1);
        } else if (at % 3 != 0) {
            before.push_back(at - at % 3);
        }
    });
}

static void tree(size_t tasks) {
    size_t leaves = (tasks + 1) / 2;
    graph(tasks, [leaves](size_t at, std::vector<size_t> &before) {
        if (at >= leaves) {
            before.push_back(2 * (at - leaves));
            before.push_back(2 * (at - leaves) + 1);
        }
    });
}

static void print(const char *shape, size_t tasks, const std::function<void(size_t)> &run) {
    run(tasks); // Not counted.
    std::printf("oneTBB %s %zu", shape, tasks);
    for (int at = 0; at < RUNS; at++) {
        auto start = std::chrono::steady_clock::now();
        run(tasks);
        std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
        std::printf(" %.1f", time.count() / tasks);
    }
    std::printf("\n");
}

int main(int, char **arguments) {
    size_t tasks = std::strtoull(arguments[1], nullptr, 10);
    size_t in_tree = 1;
    while (2 * in_tree <= tasks)
        in_tree *= 2;
    oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism, THREADS);
    print("independent", tasks, independent);
    print("chain", tasks, chain);
    print("diamonds", tasks / 3 * 3, diamonds);
    print("tree", in_tree - 1, tree);
    print("independent", 10 * tasks, independent);
}
