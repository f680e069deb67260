// The same graphs for StarPU: build with `gcc -O2 starpu.c $(pkg-config --cflags --libs starpu-1.4)`
// or the version that is there, run with the number of tasks.
#include <starpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS 7

static void work(void *buffers[], void *argument) {
    (void)buffers;
    (void)argument;
}

static struct starpu_codelet codelet = {.cpu_funcs = {work}, .nbuffers = 0};

// Submits a task that waits for up to two others.
static struct starpu_task *submit(struct starpu_task *first, struct starpu_task *second) {
    struct starpu_task *task = starpu_task_create();
    struct starpu_task *before[2] = {first, second};
    task->cl = &codelet;
    task->destroy = 0;
    task->detach = 0;
    if (first)
        starpu_task_declare_deps_array(task, second ? 2 : 1, before);
    if (starpu_task_submit(task) != 0)
        exit(1);
    return task;
}

static void independent(struct starpu_task **tasks, size_t count) {
    for (size_t at = 0; at < count; at++)
        tasks[at] = submit(NULL, NULL);
}

static void chain(struct starpu_task **tasks, size_t count) {
    for (size_t at = 0; at < count; at++)
        tasks[at] = submit(at ? tasks[at - 1] : NULL, NULL);
}

static void diamonds(struct starpu_task **tasks, size_t count) {
    for (size_t at = 0; at < count; at++) {
        if (at == 0)
            tasks[at] = submit(NULL, NULL);
        else if (at % 3 == 0)
            tasks[at] = submit(tasks[at - 2], tasks[at - 1]);
        else
            tasks[at] = submit(tasks[at - at % 3], NULL);
    }
}

static void tree(struct starpu_task **tasks, size_t count) {
    size_t leaves = (count + 1) / 2;
    for (size_t at = 0; at < count; at++) {
        if (at < leaves)
            tasks[at] = submit(NULL, NULL);
        else
            tasks[at] = submit(tasks[2 * (at - leaves)], tasks[2 * (at - leaves) + 1]);
    }
}

static void print(const char *shape, size_t count, void (*run)(struct starpu_task **, size_t)) {
    struct starpu_task **tasks = malloc(count * sizeof *tasks);
    printf("StarPU %s %zu", shape, count);
    for (int at = -1; at < RUNS; at++) {
        double start = starpu_timing_now();
        run(tasks, count);
        starpu_task_wait_for_all();
        double time = starpu_timing_now() - start;
        for (size_t task = 0; task < count; task++)
            starpu_task_destroy(tasks[task]);
        if (at >= 0) // The first is not counted.
            printf(" %.1f", time * 1000 / count);
    }
    printf("\n");
    free(tasks);
}

int main(int argc, char **arguments) {
    size_t count = strtoull(arguments[argc - 1], NULL, 10);
    size_t in_tree = 1;
    while (2 * in_tree <= count)
        in_tree *= 2;
    setenv("STARPU_NCPU", "2", 0);
    setenv("STARPU_SILENT", "1", 0);
    if (starpu_init(NULL) != 0)
        return 1;
    print("independent", count, independent);
    print("chain", count, chain);
    print("diamonds", count / 3 * 3, diamonds);
    print("tree", in_tree - 1, tree);
    starpu_shutdown();
}
