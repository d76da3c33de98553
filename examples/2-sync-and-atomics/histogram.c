// histogram: the host of histogram.cu, in C. Arguments: N BINS. Every form is checked against a serial
// histogram, for inputs that are uniform, one value only, and skewed (nine of ten items equal); each has
// items that fit no bin, which must be counted apart. A form whose counters don't fit into a block's shared
// memory is named.
#include "../common/tour.h"

typedef void Kernel(const unsigned *items, unsigned n, unsigned *counts, unsigned bins);
Kernel histogram_global, histogram_shared, histogram_warp, histogram_thread, histogram_indexed;

enum { THREADS = 256, THREAD_BINS = 4, OUTSIDE_EVERY = 1009 };

typedef enum { UNIFORM, ONE_VALUE, SKEWED, INPUTS } Input;
static const char *const input_names[INPUTS] = {"uniform", "one value", "skewed"};

typedef struct {
  const char *name;
  Kernel *kernel;
  unsigned copies;   // sets of counters in shared memory
  unsigned max_bins; // 0: any number
} Form;

static const Form global_form = {"global", histogram_global, 0, 0};
static const Form shared_form = {"shared", histogram_shared, 1, 0};
static const Form warp_form = {"warp", histogram_warp, THREADS / 32, 0};
static const Form thread_form = {"thread", histogram_thread, 0, THREAD_BINS};
static const Form indexed_form = {"indexed", histogram_indexed, 0, THREAD_BINS};
static const Form *const forms[] = {&global_form, &shared_form, &warp_form, &thread_form, &indexed_form};

static unsigned item_of(Input input, unsigned i, unsigned bins) {
  unsigned hash = tour_hash(i);
  if (i % OUTSIDE_EVERY == OUTSIDE_EVERY - 1)
    return bins + (hash & 1 ? 0 : hash % 1000); // bins itself too: the nearest that is outside
  if (input == ONE_VALUE || (input == SKEWED && hash % 10))
    return bins / 2;
  return tour_hash(hash) % bins;
}

typedef struct {
  const Form *form;
  const unsigned *items;
  unsigned *counts;
  unsigned n, bins, blocks;
} Launch;

static size_t shared_bytes(const Form *form, unsigned bins) {
  return form->copies * (bins + 1) * sizeof(unsigned);
}

static int fits(const Form *form, unsigned bins) {
  return (!form->max_bins || bins <= form->max_bins) &&
         shared_bytes(form, bins) <= tour.device.sharedMemPerBlockOptin;
}

static void launch(void *context) {
  Launch *l = context;
  void *arguments[] = {&l->items, &l->n, &l->counts, &l->bins};
  CHECK(cudaLaunchKernel((const void *)l->form->kernel, (dim3){l->blocks, 1, 1}, (dim3){THREADS, 1, 1},
                         arguments, shared_bytes(l->form, l->bins), 0));
}

// Runs the form once, compares every counter.
static void verify(Launch *l, const unsigned *want, unsigned *got, Input input) {
  size_t bytes = (l->bins + 1) * sizeof(unsigned);
  CHECK(cudaFuncSetAttribute((const void *)l->form->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_bytes(l->form, l->bins)));
  CHECK(cudaMemset(l->counts, 0, bytes));
  launch(l);
  tour_sync();
  tour_download(got, l->counts, bytes);
  for (unsigned bin = 0; bin <= l->bins; bin++)
    tour_expect(got[bin] == want[bin], "%s, %s input, %u bins: bin %u has %u, should have %u", l->form->name,
                input_names[input], l->bins, bin, got[bin], want[bin]);
}

// The same items for all the forms; times[form] in microseconds if asked for.
static void compare(unsigned n, unsigned bins, Input input, unsigned blocks, double *times) {
  size_t bytes = (bins + 1) * sizeof(unsigned);
  unsigned *items = tour_host_alloc(n * sizeof *items);
  unsigned *want = tour_host_alloc(bytes), *got = tour_host_alloc(bytes);
  memset(want, 0, bytes);
  for (unsigned i = 0; i < n; i++) {
    items[i] = item_of(input, i, bins);
    want[items[i] < bins ? items[i] : bins]++;
  }
  unsigned *device_items = tour_upload(items, n * sizeof *items), *counts = tour_alloc(bytes);
  for (unsigned f = 0; f < sizeof forms / sizeof *forms; f++) {
    Launch l = {forms[f], device_items, counts, n, bins, blocks};
    if (!fits(l.form, bins)) {
      if (!l.form->max_bins)
        printf("%s: %u bins do not fit into a block's shared memory: left out\n", l.form->name, bins);
      continue;
    }
    verify(&l, want, got, input);
    if (times)
      times[f] = tour_time_us(launch, &l, 10);
  }
  if (times) { // the printed launch: one item a thread
    Launch l = {&shared_form, device_items, counts, n, bins, (n + THREADS - 1) / THREADS};
    verify(&l, want, got, input);
    times[sizeof forms / sizeof *forms] = tour_time_us(launch, &l, 10);
  }
  CHECK(cudaFree(device_items));
  CHECK(cudaFree(counts));
  free(items);
  free(want);
  free(got);
}

static void measure(void) {
  enum { GLOBAL, SHARED, WARP, THREAD, INDEXED, ONE_ITEM, TIMES };
  const unsigned n = 1u << 26, blocks = (unsigned)tour.device.multiProcessorCount * 8;
  double us[TIMES];
  compare(n, 256, UNIFORM, blocks, us);
  tour_figure("histogram.global_us", us[GLOBAL], "us");
  tour_figure("histogram.shared_us", us[SHARED], "us");
  tour_figure("histogram.warp_us", us[WARP], "us");
  tour_figure("histogram.one_item_us", us[ONE_ITEM], "us");
  tour_figure("histogram.shared_gain", us[GLOBAL] / us[SHARED], "x");
  tour_figure("histogram.warp_gain", us[SHARED] / us[WARP], "x");
  tour_figure("histogram.one_item_gain", us[GLOBAL] / us[ONE_ITEM], "x");
  tour_figure("histogram.one_item_over_shared", us[ONE_ITEM] / us[SHARED], "x");

  compare(n, 256, ONE_VALUE, blocks, us);
  tour_figure("histogram.global_one_us", us[GLOBAL], "us");
  tour_figure("histogram.shared_one_us", us[SHARED], "us");
  tour_figure("histogram.warp_one_us", us[WARP], "us");
  tour_figure("histogram.shared_one_gain", us[GLOBAL] / us[SHARED], "x");

  compare(n, 256, SKEWED, blocks, us);
  tour_figure("histogram.global_skewed_us", us[GLOBAL], "us");
  tour_figure("histogram.shared_skewed_us", us[SHARED], "us");
  tour_figure("histogram.warp_skewed_us", us[WARP], "us");

  compare(n, THREAD_BINS, UNIFORM, blocks, us);
  tour_figure("histogram.global_4_us", us[GLOBAL], "us");
  tour_figure("histogram.shared_4_us", us[SHARED], "us");
  tour_figure("histogram.thread_us", us[THREAD], "us");
  tour_figure("histogram.indexed_us", us[INDEXED], "us");
  tour_figure("histogram.thread_gain", us[GLOBAL] / us[THREAD], "x");
  tour_figure("histogram.thread_over_shared", us[SHARED] / us[THREAD], "x");
  tour_figure("histogram.indexed_over_thread", us[INDEXED] / us[THREAD], "x");

  compare(n, THREAD_BINS, ONE_VALUE, blocks, us);
  tour_figure("histogram.thread_one_us", us[THREAD], "us");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [BINS]]");
  unsigned n = (unsigned)tour_arg(0, 20011, 1, 1 << 26);
  unsigned bins = (unsigned)tour_arg(1, 1000, 1, 1 << 20);
  for (Input input = UNIFORM; input < INPUTS; input++) {
    compare(n, bins, input, 5, NULL);
    compare(n, THREAD_BINS, input, 5, NULL);
  }
  compare(n, 1, UNIFORM, 3, NULL);
  compare(1, 256, UNIFORM, 2, NULL);
  compare(THREADS + 1, 257, UNIFORM, 2, NULL);
  if (tour.timing)
    measure();
  return tour_end("histograms of %u items into %u, %d and fewer bins", n, bins, THREAD_BINS);
}
