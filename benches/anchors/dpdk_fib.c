/* DPDK's tables of prefixes, rte_fib and rte_fib6: how fast they find random destinations, 64 at a time.
 *
 *   dpdk_fib FILE 4|6 ROUNDS [options of DPDK]
 *
 * FILE is one that `bench_fib --write` writes. The table is looked up as fast as this processor can by any
 * of the ways that the library has. Prints one JSON object: millions of look-ups each second (the median of
 * the rounds), microseconds of updates, and the sum of all next hops found, by which to compare.
 */

#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 64
/* Look-ups that are timed together: what else the machine does spoils some pieces and not the median. */
#define PIECE (1 << 13)
#define ROUNDS_MOST 1000
#define UPDATES 20000
/* Groups of 256 entries for prefixes longer than 24 bits. */
#define GROUPS (1 << 17)
#define GROUPS6 (1 << 19)

static unsigned char *content;
static uint64_t prefixes, destinations;
static size_t width;
static struct rte_fib *fib;
static struct rte_fib6 *fib6;
static uint32_t *to;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int fail(const char *what)
{
    fprintf(stderr, "dpdk_fib: %s\n", what);
    return 1;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_content(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return -1;
    size_t length = ftell(file);
    rewind(file);
    content = malloc(length);
    if (content == NULL || length < 16 || fread(content, 1, length, file) != length)
        return -1;
    fclose(file);
    memcpy(&prefixes, content, 8);
    memcpy(&destinations, content + 8, 8);
    return length == 16 + prefixes * (width + 2) + destinations * width ? 0 : -1;
}

static uint32_t address(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* Announces or withdraws a prefix. */
static int update(uint64_t place, int is_announced)
{
    unsigned char *prefix = content + 16 + place * (width + 2);
    uint8_t length = prefix[width], hop = prefix[width + 1];
    if (width == 4)
        return is_announced ? rte_fib_add(fib, address(prefix), length, hop)
                            : rte_fib_delete(fib, address(prefix), length);
    return is_announced ? rte_fib6_add(fib6, prefix, length, hop) : rte_fib6_delete(fib6, prefix, length);
}

static void look_up(uint64_t first, uint64_t *hops)
{
    if (width == 4) {
        rte_fib_lookup_bulk(fib, to + first, hops, BATCH);
        return;
    }
    unsigned char *all = content + 16 + prefixes * (width + 2);
    rte_fib6_lookup_bulk(fib6, (uint8_t(*)[16])(all + first * 16), hops, BATCH);
}

/* Looks all destinations up, and keeps the seconds of each piece. */
static size_t pieces(double *took, uint64_t *sum)
{
    uint64_t hops[BATCH];
    size_t count = 0;
    for (uint64_t piece = 0; piece + PIECE <= destinations; piece += PIECE) {
        double begin = now();
        for (uint64_t first = piece; first < piece + PIECE; first += BATCH) {
            look_up(first, hops);
            *sum += hops[0];
        }
        took[count++] = now() - begin;
    }
    return count;
}

int main(int count, char **words)
{
    if (count < 4)
        return fail("FILE 4|6 ROUNDS [options of DPDK]");
    int rounds = atoi(words[3]);
    width = words[2][0] == '6' ? 16 : 4;
    if (rounds < 1 || rounds > ROUNDS_MOST || read_content(words[1]) < 0)
        return fail("no such file, or no such number of rounds");
    words[3] = words[0];
    if (rte_eal_init(count - 3, words + 3) < 0)
        return fail("DPDK does not start");
    struct rte_fib_conf config = {.type = RTE_FIB_DIR24_8, .max_routes = prefixes + 1,
                                  .dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_4B, .num_tbl8 = GROUPS}};
    struct rte_fib6_conf config6 = {.type = RTE_FIB6_TRIE, .max_routes = prefixes + 1,
                                    .trie = {.nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = GROUPS6}};
    if (width == 4)
        fib = rte_fib_create("fib", 0, &config);
    else
        fib6 = rte_fib6_create("fib6", 0, &config6);
    if (fib == NULL && fib6 == NULL)
        return fail("there is no memory for the table");
    for (uint64_t place = 0; place < prefixes; place++)
        if (update(place, 1) < 0)
            return fail("a prefix finds no place in the table");
    to = malloc(destinations * sizeof(*to));
    if (to == NULL)
        return fail("there is no memory for the destinations");
    for (uint64_t place = 0; place < destinations; place++)
        to[place] = address(content + 16 + prefixes * (width + 2) + place * width);

    /* All ways of looking up that the library has here; the best of them counts. */
    double best = 0, *spans = calloc(rounds * (destinations / PIECE + 1), sizeof(*spans));
    uint64_t sum = 0;
    int ways = width == 4 ? RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512 : RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512;
    int chosen = 0;
    for (int way = 0; spans != NULL && way <= ways; way++) {
        int found = width == 4 ? rte_fib_select_lookup(fib, way) : rte_fib6_select_lookup(fib6, way);
        if (found < 0)
            continue;
        size_t count = 0;
        pieces(spans, &sum);
        for (int round = 0; round < rounds; round++)
            count += pieces(spans + count, &sum);
        qsort(spans, count, sizeof(*spans), by_size);
        double rate = PIECE / spans[count / 2] / 1e6;
        if (rate > best) {
            best = rate;
            chosen = way;
        }
    }
    if (width == 4)
        rte_fib_select_lookup(fib, chosen);
    else
        rte_fib6_select_lookup(fib6, chosen);

    static double took[UPDATES];
    uint64_t hops[BATCH], random = 1;
    for (int place = 0; place < UPDATES; place++) {
        if (place % 2 == 0)
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        double begin = now();
        update((random >> 33) % prefixes, place % 2);
        took[place] = (now() - begin) * 1e6;
        look_up((random >> 20) % (destinations - BATCH), hops);
        sum += hops[0];
    }
    qsort(took, UPDATES, sizeof(*took), by_size);

    uint64_t check = 0;
    for (uint64_t first = 0; first < destinations / BATCH * BATCH; first += BATCH) {
        look_up(first, hops);
        for (int place = 0; place < BATCH; place++)
            check += hops[place];
    }
    printf("{\"mlps\": %.1f, \"way\": %d, \"update_p50_us\": %.2f, \"update_p999_us\": %.2f, \"check\": %llu}\n",
           best, chosen, took[UPDATES / 2], took[UPDATES * 999 / 1000], (unsigned long long)check);
    return sum == 1;
}
