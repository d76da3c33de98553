// bench.cu: the whole-device operations of libmuster, timed and verified beside CUB and cuBLAS in the same
// run.
//
//   ops_bench FILE.tsv [reduce] [dot] [scan] [histogram] [map] [accuracy] [text=FILE]... [tune=FOLDER]
//             [n=LOG2]
//
// Without a word all operations. Each is timed in a stream (calls one after the other, as a program makes
// them) and replayed in a CUDA graph; a figure is the median of 15 rounds, per call. FILE.tsv gets a row a
// figure with its least and greatest round; standard output a table. Each result is compared with the
// baseline's or the host's; a wrong one makes the exit code 1. text= are files whose bytes are one of the
// histogram's inputs. tune= is a folder that bench/ops/variants.sh filled: the kernels in other shapes are
// tried, too; with "none" only those, of the operations that are named. n= is the largest size (30).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <glob.h>

#include "../check.h"
#include "bound.h"
#include "muster.h"

#define MUST(call)                                                                     \
  do {                                                                                 \
    if ((call) != MUSTER_OK) {                                                         \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, muster_message()); \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

enum { ROUNDS = 15, CALLS_OF_GRAPH = 20 };

static muster_device *device;
static cudaStream_t stream;
static FILE *file;
static int wrong;
static unsigned largest = 30, multiprocessors;
static void *x, *y, *out, *out2, *workspace, *cub_workspace; // device memory
static size_t workspace_bytes, cub_bytes;

// ---------------------------------------------------------------- timing

struct figure {
  double least, median, greatest; // microseconds a call
};

static figure figure_of(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  return {rounds.front(), rounds[rounds.size() / 2], rounds.back()};
}

static double timed(const std::function<void()> &work) {
  cudaEvent_t from, to;
  float ms;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  CHECK(cudaEventRecord(from, stream));
  work();
  CHECK(cudaEventRecord(to, stream));
  CHECK(cudaEventSynchronize(to));
  CHECK(cudaEventElapsedTime(&ms, from, to));
  CHECK(cudaEventDestroy(from));
  CHECK(cudaEventDestroy(to));
  return ms * 1e3;
}

// As many calls in a round that it lasts about a millisecond.
static int rounds_of(double one_call) { // a call of a fifth of a second does not need as many
  return one_call > 2e4 ? 3 : ROUNDS;
}

static figure in_stream(const std::function<void()> &call) {
  std::vector<double> rounds;
  call();
  call();
  double one = timed(call);
  int calls = std::max(1, std::min(50, (int)(1000 / one)));
  for (int round = 0; round < rounds_of(one); round++)
    rounds.push_back(timed([&] {
                       for (int i = 0; i < calls; i++)
                         call();
                     }) /
                     calls);
  return figure_of(rounds);
}

static figure in_graph(const std::function<void()> &call, int calls = CALLS_OF_GRAPH) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  std::vector<double> rounds;
  double one = timed(call);
  calls = one > 2e4 ? 1 : calls;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < calls; i++)
    call();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 2; i++)
    CHECK(cudaGraphLaunch(ready, stream));
  for (int round = 0; round < rounds_of(one); round++)
    rounds.push_back(timed([&] { CHECK(cudaGraphLaunch(ready, stream)); }) / calls);
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  return figure_of(rounds);
}

// ---------------------------------------------------------------- rows

struct method {
  std::string name;
  std::function<void()> call;
};

static void row(const std::string &what, const std::string &input, size_t n, unsigned bins,
                const std::string &name, const char *where, const figure &f, double bytes, double base) {
  fprintf(file, "%s\t%s\t%zu\t%u\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.1f\t%.3f\n", what.c_str(), input.c_str(), n,
          bins, name.c_str(), where, f.least, f.median, f.greatest, bytes / f.median / 1e3, base / f.median);
}

// Every method in both ways; the last is the baseline.
static void compare(const std::string &what, const std::string &input, size_t n, unsigned bins, double bytes,
                    const std::vector<method> &methods) {
  std::vector<figure> streams, graphs;
  int calls = n >= (size_t)1 << 26 ? 2 : CALLS_OF_GRAPH;
  for (const method &m : methods)
    streams.push_back(in_stream(m.call));
  for (const method &m : methods)
    graphs.push_back(in_graph(m.call, calls));
  double base_stream = streams.back().median, base_graph = graphs.back().median;
  for (size_t i = 0; i < methods.size(); i++) {
    row(what, input, n, bins, methods[i].name, "stream", streams[i], bytes, base_stream);
    row(what, input, n, bins, methods[i].name, "graph", graphs[i], bytes, base_graph);
    printf("%-10s %-8s 2^%-5.2f %7u  %-14s %9.2f us %6.2fx  %9.2f us %6.2fx  %7.0f GB/s\n", what.c_str(),
           input.c_str(), log2((double)n), bins, methods[i].name.c_str(), streams[i].median,
           base_stream / streams[i].median, graphs[i].median, base_graph / graphs[i].median,
           bytes / graphs[i].median / 1e3);
  }
  fflush(stdout);
  fflush(file);
}

static void verify(bool good, const char *what, size_t n) {
  if (good)
    return;
  wrong++;
  printf("WRONG: %s of %zu\n", what, n);
}

// ---------------------------------------------------------------- inputs

static __device__ unsigned hashed(unsigned i) {
  i ^= i >> 16, i *= 0x7feb352du, i ^= i >> 15, i *= 0x846ca68bu;
  return i ^ i >> 16;
}
static __global__ void fill_f32(float *to, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    to[i] = (float)hashed((unsigned)i * 2 + seed) * (1.0f / 4294967296.0f) - 0.25f;
}

// Values by the cumulative weights `upto` of `bins` bins; sorted: in order.
template <typename T>
static __global__ void fill_bins(T *to, size_t n, const float *upto, unsigned bins, unsigned sorted) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    float at = sorted ? (float)((double)i / n) : (float)(hashed((unsigned)i) >> 8) * (1.0f / 16777216.0f);
    unsigned low = 0, high = bins - 1;
    while (low < high) {
      unsigned middle = (low + high) / 2;
      if (upto[middle] <= at)
        low = middle + 1;
      else
        high = middle;
    }
    to[i] = (T)low;
  }
}

template <typename T> static void fill(T *to, size_t n, unsigned bins, const std::string &input) {
  std::vector<double> weights(bins, 1);
  if (input == "one")
    for (unsigned i = 0; i < bins; i++)
      weights[i] = i == bins / 2;
  if (input == "zipf")
    for (unsigned i = 0; i < bins; i++) // the ranks in no order of the values
      weights[i] = pow(1 + (double)((size_t)i * 40503 % bins), -1.1);
  double sum = 0, all = 0;
  for (double w : weights)
    all += w;
  std::vector<float> upto(bins);
  for (unsigned i = 0; i < bins; i++)
    upto[i] = (float)((sum += weights[i]) / all);
  float *table;
  CHECK(cudaMalloc(&table, bins * sizeof(float)));
  CHECK(cudaMemcpy(table, upto.data(), bins * sizeof(float), cudaMemcpyHostToDevice));
  fill_bins<T><<<1056, 512>>>(to, n, table, bins, input == "sorted");
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(table));
}

static std::vector<unsigned char> text;

static void fill_text(unsigned char *to, size_t n) {
  CHECK(cudaMemcpy(to, text.data(), std::min(n, text.size()), cudaMemcpyHostToDevice));
  for (size_t have = text.size(); have < n; have *= 2) // doubles what is there
    CHECK(cudaMemcpy(to + have, to, std::min(have, n - have), cudaMemcpyDeviceToDevice));
}

// ---------------------------------------------------------------- calls

static muster_call call_of(muster_mode mode = MUSTER_FAST) {
  muster_call call = MUSTER_CALL_INIT;
  call.stream = stream;
  call.workspace = (uint64_t)workspace;
  call.workspace_bytes = workspace_bytes;
  call.mode = mode;
  return call;
}
static void fresh_workspace(void) {
  CHECK(cudaMemset(workspace, 0, workspace_bytes));
}
#define AT(pointer) ((uint64_t)(pointer))

template <typename T> static T fetched(const void *from) {
  T value;
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

static std::vector<size_t> sizes(unsigned from, unsigned step) {
  std::vector<size_t> list;
  for (unsigned log = from; log <= largest; log += step)
    list.push_back((size_t)1 << log);
  return list;
}

static void bench_reduce(void) {
  fresh_workspace();
  for (size_t n : sizes(10, 2)) {
    auto sum = [n](muster_mode mode, void *to) {
      return [n, mode, to] {
        muster_call call = call_of(mode);
        MUST(muster_reduce(device, &call, MUSTER_SUM, MUSTER_f32, AT(x), n, AT(to)));
      };
    };
    auto cub_sum = [n] {
      CHECK(cub::DeviceReduce::Sum(cub_workspace, cub_bytes, (float *)x, (float *)out2, n, stream));
    };
    sum(MUSTER_COMPENSATED, out)();
    float exact = fetched<float>(out);
    cub_sum();
    for (int mode = 0; mode < MUSTER_MODES; mode++) {
      sum((muster_mode)mode, out)();
      float got = fetched<float>(out);
      verify(fabs(got - exact) <= 1e-5 * n * 0.25, "sum", n);
    }
    verify(fabs(fetched<float>(out2) - exact) <= 1e-5 * n * 0.25, "CUB's sum", n);
    compare("sum", "f32", n, 0, n * 4.0,
            {{"muster", sum(MUSTER_FAST, out)},
             {"reproducible", sum(MUSTER_REPRODUCIBLE, out)},
             {"compensated", sum(MUSTER_COMPENSATED, out)},
             {"CUB", cub_sum}});
  }
}

// cuBLAS, where it is there: the four functions that a dot product takes.
struct blas {
  void *handle;
  int (*dot)(void *, int64_t, const float *, int64_t, const float *, int64_t, float *);
};
static bool blas_open(blas *b) {
  void *library = dlopen("libcublas.so.13", RTLD_NOW);
  if (!library)
    library = dlopen("libcublas.so.12", RTLD_NOW);
  if (!library)
    library = dlopen("/usr/local/cuda/lib64/libcublas.so", RTLD_NOW);
  if (!library) {
    printf("cuBLAS: %s\n", dlerror());
    return false;
  }
  auto create = (int (*)(void **))dlsym(library, "cublasCreate_v2");
  auto set_stream = (int (*)(void *, cudaStream_t))dlsym(library, "cublasSetStream_v2");
  auto set_mode = (int (*)(void *, int))dlsym(library, "cublasSetPointerMode_v2");
  b->dot = (decltype(b->dot))dlsym(library, "cublasSdot_v2_64");
  return create && set_stream && set_mode && b->dot && create(&b->handle) == 0 &&
         set_stream(b->handle, stream) == 0 && set_mode(b->handle, 1) == 0; // 1: the result to the device
}

static void bench_dot(void) {
  blas b = {};
  bool have = blas_open(&b);
  fresh_workspace();
  for (size_t n : sizes(10, 2)) {
    auto dot = [n](muster_mode mode) {
      return [n, mode] {
        muster_call call = call_of(mode);
        MUST(muster_dot(device, &call, MUSTER_f32, AT(x), AT(y), n, AT(out)));
      };
    };
    dot(MUSTER_COMPENSATED)();
    float exact = fetched<float>(out);
    dot(MUSTER_FAST)();
    verify(fabs(fetched<float>(out) - exact) <= 1e-5 * n * 0.1, "dot", n);
    std::vector<method> methods = {{"muster", dot(MUSTER_FAST)}, {"compensated", dot(MUSTER_COMPENSATED)}};
    if (have) {
      auto blas_dot = [n, b] {
        if (b.dot(b.handle, (int64_t)n, (float *)x, 1, (float *)y, 1, (float *)out2) != 0)
          exit(1);
      };
      blas_dot();
      verify(fabs(fetched<float>(out2) - exact) <= 1e-5 * n * 0.1, "cuBLAS's dot", n);
      methods.push_back({"cuBLAS", blas_dot});
    }
    compare("dot", "f32", n, 0, n * 8.0, methods);
  }
}

static __global__ void differ(const float *a, const float *b, size_t n, float per_element, unsigned *count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    if (!(fabsf(a[i] - b[i]) <= per_element * (i + 1) + 1e-3f))
      atomicAdd(count, 1u);
}

static void cub_scan(size_t n) {
  CHECK(cub::DeviceScan::InclusiveSum(cub_workspace, cub_bytes, (float *)x, (float *)out2, n, stream));
}
// Whether `out` is what CUB wrote.
static void verify_scan(const char *what, size_t n) {
  static unsigned *count;
  if (!count)
    CHECK(cudaMalloc(&count, 4));
  CHECK(cudaMemsetAsync(count, 0, 4, stream));
  differ<<<1056, 512, 0, stream>>>((float *)out, (float *)out2, n, 1e-5f, count);
  verify(fetched<unsigned>(count) == 0, what, n);
}

static void bench_scan(void) {
  fresh_workspace();
  for (size_t n : sizes(10, 2)) {
    auto scan = [n](muster_scan_kind kind) {
      return [n, kind] {
        muster_call call = call_of();
        MUST(muster_scan(device, &call, MUSTER_SUM, kind, MUSTER_f32, AT(x), n, AT(out)));
      };
    };
    scan(MUSTER_INCLUSIVE)();
    cub_scan(n);
    verify_scan("scan", n);
    compare("scan", "f32", n, 0, n * 8.0,
            {{"muster", scan(MUSTER_INCLUSIVE)}, {"exclusive", scan(MUSTER_EXCLUSIVE)}, {"CUB", [n] {
                                                                                           cub_scan(n);
                                                                                         }}});
  }
}

template <typename T>
static void bench_bins(muster_elem elem, size_t n, unsigned bins, const std::string &input) {
  auto count = [=] {
    muster_call call = call_of();
    MUST(muster_histogram(device, &call, elem, AT(x), n, bins, AT(out)));
  };
  auto cub_count = [=] {
    CHECK(cub::DeviceHistogram::HistogramEven(cub_workspace, cub_bytes, (T *)x, (unsigned *)out2,
                                              (int)bins + 1, 0u, bins, (long long)n, stream));
  };
  count();
  cub_count();
  CHECK(cudaStreamSynchronize(stream));
  std::vector<unsigned long long> got(bins);
  std::vector<unsigned> want(bins);
  CHECK(cudaMemcpy(got.data(), out, bins * 8ull, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(want.data(), out2, bins * 4ull, cudaMemcpyDeviceToHost));
  verify(std::equal(got.begin(), got.end(), want.begin()), "histogram", n);
  compare(sizeof(T) == 1 ? "bytes" : "bins", input, n, bins, (double)n * sizeof(T),
          {{"muster", count}, {"CUB", cub_count}});
}

static void bench_histogram(void) {
  std::vector<std::string> inputs = {"uniform", "one", "zipf", "sorted"};
  if (!text.empty())
    inputs.push_back("text");
  fresh_workspace();
  for (const std::string &input : inputs)
    for (unsigned log : {16u, 20u, 22u, 24u, 28u, 30u})
      if (log <= largest) {
        size_t n = (size_t)1 << log;
        if (input == "text")
          fill_text((unsigned char *)x, n);
        else
          fill((unsigned char *)x, n, 256, input);
        bench_bins<unsigned char>(MUSTER_u8, n, 256, input);
      }
  for (unsigned bins : {2048u, 8192u, 65536u, 1u << 20})
    for (const char *input : {"uniform", "zipf", "one", "sorted"})
      for (unsigned log : {20u, 24u, 28u})
        if (log <= largest) {
          fill((unsigned *)x, (size_t)1 << log, bins, input);
          bench_bins<unsigned>(MUSTER_u32, (size_t)1 << log, bins, input);
        }
}

static void bench_map(void) {
  for (size_t n : sizes(20, 4)) {
    auto add = [n] {
      muster_call call = call_of();
      MUST(muster_map(device, &call, MUSTER_ADD, MUSTER_f32, NULL, AT(x), AT(y), n, AT(out)));
    };
    auto copy = [n] { CHECK(cudaMemcpyAsync(out2, x, n * 4, cudaMemcpyDeviceToDevice, stream)); };
    add();
    float a = fetched<float>((float *)x + n - 1), b = fetched<float>((float *)y + n - 1);
    verify(fetched<float>((float *)out + n - 1) == a + b, "vector add", n);
    figure of_add = in_graph(add, 4), of_copy = in_graph(copy, 4);
    double add_gbs = n * 12.0 / of_add.median / 1e3, copy_gbs = n * 8.0 / of_copy.median / 1e3;
    row("add", "f32", n, 0, "muster", "graph", of_add, n * 12.0, of_copy.median * 1.5);
    row("add", "f32", n, 0, "copy", "graph", of_copy, n * 8.0, of_copy.median);
    printf("%-10s %-8s 2^%-5.2f          muster %.0f GB/s, device copy %.0f GB/s: %.3f\n", "add", "f32",
           log2((double)n), add_gbs, copy_gbs, add_gbs / copy_gbs);
  }
}

// ---------------------------------------------------------------- accuracy

static __global__ void fill_f64(double *to, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    to[i] = hashed((unsigned)i * 2 + seed) * (1.0 / 4294967296.0) - 0.25 + hashed((unsigned)i) * 0x1p-60;
}

// Sums and dot products of up to 2^28 elements against sums on the host that lose nothing.
template <typename T> static void judge_accuracy(muster_elem elem, const char *name, size_t n) {
  std::vector<T> xs(n), ys(n);
  exact_sum sum = {0, 0, 0}, dot = {0, 0, 0};
  int digits = sizeof(T) == 4 ? 24 : 53;
  CHECK(cudaMemcpy(xs.data(), x, n * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(ys.data(), y, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < n; i++) {
    exact_add(&sum, xs[i]);
    if (sizeof(T) == 4)
      exact_add(&dot, (long double)xs[i] * ys[i]);
    else
      exact_add_product(&dot, xs[i], ys[i]);
  }
  for (int mode = 0; mode < MUSTER_MODES; mode++)
    for (int dots = 0; dots < 2; dots++) {
      static const char *const modes[] = {"fast", "reproducible", "compensated"};
      const exact_sum *s = dots ? &dot : &sum;
      muster_call call = call_of((muster_mode)mode);
      if (dots)
        MUST(muster_dot(device, &call, elem, AT(x), AT(y), n, AT(out)));
      else
        MUST(muster_reduce(device, &call, MUSTER_SUM, elem, AT(x), n, AT(out)));
      long double error = fabsl(((long double)fetched<T>(out) - s->high) - s->low);
      long double allowed = error_allowed(s, n, digits, mode == MUSTER_COMPENSATED);
      verify(error <= allowed, dots ? "dot's accuracy" : "sum's accuracy", n);
      printf("%-10s %-8s 2^%-5.2f          %-14s off by %.3Lg, allowed %.3Lg\n", dots ? "dot" : "sum", name,
             log2((double)n), modes[mode], error, allowed);
    }
}

static void bench_accuracy(void) { // writes over the inputs
  size_t n = (size_t)1 << std::min(28u, largest);
  fresh_workspace();
  judge_accuracy<float>(MUSTER_f32, "f32", n);
  n = std::min(n, (size_t)1 << (largest - 1)); // what has room
  fill_f64<<<1056, 512>>>((double *)x, n, 1);
  fill_f64<<<1056, 512>>>((double *)y, n, 77);
  CHECK(cudaDeviceSynchronize());
  judge_accuracy<double>(MUSTER_f64, "f64", n);
}

// ---------------------------------------------------------------- what else could be

// A variant's numbers, from its file's name: FILE.ELEM.t512u4b2.ptx has 512 threads, 4 vectors a thread, and
// 2 blocks that shall fit a multiprocessor; bench/ops/variants.sh says what other letters mean.
struct variant {
  std::string path, label;
  std::map<char, unsigned> number;
  unsigned threads, unroll, resident;
};
static std::vector<variant> variants_of(const std::string &folder, const std::string &file) {
  std::vector<variant> list;
  glob_t found;
  if (glob((folder + "/" + file + ".t*.ptx").c_str(), 0, NULL, &found) != 0)
    return list;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    variant v = {found.gl_pathv[i], "", {}, 0, 0, 0};
    size_t from = folder.size() + 1 + file.size() + 1;
    v.label = v.path.substr(from, v.path.size() - from - strlen(".ptx"));
    for (const char *at = v.label.c_str(); *at;) {
      char letter = *at++, *end;
      v.number[letter] = (unsigned)strtoul(at, &end, 10);
      at = end;
    }
    v.threads = v.number['t'], v.unroll = v.number['u'], v.resident = v.number['b'];
    list.push_back(v);
  }
  globfree(&found);
  return list;
}

static muster_kernel *kernel_of(const variant &v, const char *name) {
  static std::map<std::string, muster_module *> modules;
  muster_module **module = &modules[v.path];
  muster_kernel *kernel;
  if (!*module)
    MUST(muster_module_open(device, v.path.c_str(), module));
  MUST(muster_module_find(*module, name, &kernel));
  return kernel;
}

static figure launched(muster_kernel *kernel, unsigned blocks, unsigned threads, size_t shared, size_t n,
                       void **parameters) {
  muster_launch launch = MUSTER_LAUNCH_INIT;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.shared_bytes = shared;
  launch.stream = stream;
  return in_graph([&] { MUST(muster_kernel_launch(kernel, &launch, parameters)); }, n > 1 << 24 ? 2 : 20);
}

struct tried {
  double us;
  std::string label;
};
static void best(const char *what, const char *input, size_t n, std::vector<tried> found, double bytes) {
  std::sort(found.begin(), found.end(), [](const tried &a, const tried &b) { return a.us < b.us; });
  printf("tune %s %s 2^%.0f:", what, input, log2((double)n));
  for (size_t i = 0; i < found.size() && i < 6; i++)
    printf("  %s %.2f us", found[i].label.c_str(), found[i].us);
  printf("  (%.0f GB/s)\n", found.empty() ? 0 : bytes / found[0].us / 1e3);
  fflush(stdout);
}

static void tune_reduce(const std::string &folder) {
  for (const char *name : {"reduce_sum_f32", "dot_f32"}) {
    std::vector<std::pair<variant, muster_kernel *>> kernels;
    for (const variant &v : variants_of(folder, "reduce.f32"))
      kernels.push_back({v, kernel_of(v, name)});
    fresh_workspace();
    for (size_t n : sizes(10, 2)) {
      std::vector<tried> found;
      for (auto &[v, kernel] : kernels) {
        size_t rows = n / 4 / v.threads + 1;
        for (unsigned blocks : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 132u, 256u}) {
          if (blocks > rows || (blocks < 132 && rows / blocks > 64))
            continue;
          uint64_t xs = AT(x), ys = AT(y), to = AT(out), turns = AT(workspace), words = turns + 128,
                   count = n;
          void *parameters[] = {&xs, &ys, &count, &to, &turns, &words};
          std::string label = v.label + "," + std::to_string(blocks);
          figure f = launched(kernel, blocks, v.threads, 0, n, parameters);
          row(name, "f32", n, 0, label, "graph", f, n * 4.0, 0);
          found.push_back({f.median, label});
        }
      }
      best(name, "f32", n, found, n * (name[0] == 'd' ? 8.0 : 4.0));
    }
  }
}

// Shared memory of a slot of a streamed scan, as the kernel has it.
static unsigned slot_bytes(const variant &v) {
  return v.threads * v.unroll * 16 + v.threads / 32 * 16 + 48;
}
// A scan's kernel with everything that its launch says.
struct scan_launch {
  const variant *v;
  muster_kernel *kernel;
  unsigned slots, late; // of a streamed one; else 0
};
static void tune_scan(const std::string &folder) {
  const unsigned most_shared = 227 * 1024;
  std::vector<variant> plain = variants_of(folder, "scan.f32"), streamed = variants_of(folder, "stream.f32");
  std::vector<scan_launch> launches;
  for (const variant &v : plain)
    launches.push_back({&v, kernel_of(v, "scan_inclusive_sum_f32"), 0, 0});
  for (const variant &v : streamed) {
    unsigned most = most_shared / v.resident / slot_bytes(v);
    for (unsigned slots : {most, most - 1, most - 2, most / 2 + 1})
      for (unsigned late : {1u, 2u, 3u, 4u, 6u})
        if (slots >= 2 && slots <= most && late + v.number.at('y') / 4 < slots)
          launches.push_back({&v, kernel_of(v, "scan_inclusive_sum_streamed_f32"), slots, late});
  }
  for (size_t n : sizes(18, 2)) {
    std::vector<tried> found;
    fresh_workspace();
    cub_scan(n);
    for (const scan_launch &l : launches) {
      const variant &v = *l.v;
      size_t tile = 4 * v.threads * v.unroll, tiles = (n - 1) / tile + 1;
      size_t groups_at = (tiles + 31) / 32 * 32, fields_at = groups_at + (tiles / 1024 + 1) * 32;
      if (128 + (fields_at + tiles / 1024 + 2) * 16 > workspace_bytes)
        continue;
      uint64_t xs = AT(x), to = AT(out), turns = AT(workspace), told = turns + 128, count = n;
      uint64_t groups = told + groups_at * 16, fields = told + fields_at * 16;
      void *parameters[] = {
          &xs, &count, &to, &turns, &told, &groups, &fields, (void *)&l.slots, (void *)&l.late};
      size_t blocks = tiles, threads = v.threads, shared = 0;
      std::string label = v.label;
      if (l.slots) {
        blocks = std::min(tiles, (size_t)multiprocessors * v.resident);
        threads += 32 * (2 + v.number.at('l')); // and the drawer, and the teller
        shared = (size_t)l.slots * slot_bytes(v);
        label += "," + std::to_string(l.slots) + "," + std::to_string(l.late);
      }
      CHECK(cudaMemsetAsync(out, 0xff, n * 4, stream)); // NaNs
      figure f = launched(l.kernel, (unsigned)blocks, (unsigned)threads, shared, n, parameters);
      verify_scan(label.c_str(), n);
      row("scan", "f32", n, 0, label, "graph", f, n * 8.0, 0);
      found.push_back({f.median, label});
    }
    figure cub = in_graph([n] { cub_scan(n); }, n > 1 << 24 ? 2 : 20);
    row("scan", "f32", n, 0, "CUB", "graph", cub, n * 8.0, 0);
    found.push_back({cub.median, "CUB"});
    best("scan", "f32", n, found, n * 8.0);
  }
}

static void tune_histogram(const std::string &folder) {
  std::vector<std::pair<variant, muster_kernel *>> bytes, lanes, parts, totals;
  for (const variant &v : variants_of(folder, "histogram.u8"))
    bytes.push_back({v, kernel_of(v, "histogram_lanes_u8")});
  for (const variant &v : variants_of(folder, "histogram.u32")) {
    parts.push_back({v, kernel_of(v, "histogram_parts_u32")});
    totals.push_back({v, kernel_of(v, "histogram_totals_u32")});
  }
  fresh_workspace();
  auto try_one = [](const variant &v, muster_kernel *kernel, size_t n, unsigned bins, unsigned part_bins,
                    unsigned blocks, size_t shared) {
    uint64_t xs = AT(x), to = AT(out), tickets = AT(workspace), sums = tickets + 128, count = n;
    void *parameters[] = {&xs, &count, &bins, &part_bins, &to, &tickets, &sums};
    return launched(kernel, blocks, v.threads, shared, n, parameters);
  };
  for (const char *input : {"uniform", "one"})
    for (size_t n : {(size_t)1 << 16, (size_t)1 << 20, (size_t)1 << 24, (size_t)1 << largest}) {
      std::vector<tried> found;
      if (n > (size_t)1 << largest)
        continue;
      fill((unsigned char *)x, n, 256, input);
      for (auto &[v, kernel] : bytes)
        for (unsigned blocks : {4u, 16u, 32u, 64u, 132u, 132 * v.resident}) {
          if (blocks > n / 16 / v.threads + 1 || (blocks < 132 && n > 1 << 22))
            continue;
          figure f = try_one(v, kernel, n, 256, 256, blocks, 32768);
          std::string label = v.label + "," + std::to_string(blocks);
          row("bytes", input, n, 256, label, "graph", f, (double)n, 0);
          found.push_back({f.median, label});
        }
      best("bytes", input, n, found, (double)n);
    }
  for (unsigned bins : {2048u, 8192u, 65536u, 262144u, 1u << 20})
    for (const char *input : {"uniform", "zipf", "one", "sorted"})
      for (size_t n : {(size_t)1 << std::min(20u, largest), (size_t)1 << std::min(28u, largest)}) {
        std::vector<tried> found;
        fill((unsigned *)x, n, bins, input);
        for (auto &[v, kernel] : parts)
          for (unsigned split : {1u, 2u, 3u, 4u, 5u, 10u, 19u}) {
            unsigned part_bins = (bins + split - 1) / split, blocks = 132 * v.resident / split * split;
            if (part_bins * 4ull * v.resident > 226 * 1024 ||
                (split > 2 && part_bins * 4ull * v.resident < 64 * 1024))
              continue;
            figure f = try_one(v, kernel, n, bins, part_bins, blocks, part_bins * 4ull);
            std::string label = "parts=" + std::to_string(split) + "," + v.label;
            row("bins", input, n, bins, label, "graph", f, n * 4.0, 0);
            found.push_back({f.median, label});
          }
        for (auto &[v, kernel] : totals) {
          for (unsigned choices = 1024; choices * 8 * v.resident <= 226 * 1024; choices *= 2) {
            figure f = try_one(v, kernel, n, bins, choices, 132 * v.resident, choices * 8);
            std::string label = "totals," + v.label + ",choices=" + std::to_string(choices);
            row("bins", input, n, bins, label, "graph", f, n * 4.0, 0);
            found.push_back({f.median, label});
          }
        }
        best(("bins " + std::to_string(bins)).c_str(), input, n, found, n * 4.0);
      }
}

template <typename wanted_fn> static void tune(const std::string &folder, wanted_fn wanted) {
  if (wanted("reduce"))
    tune_reduce(folder);
  if (wanted("scan"))
    tune_scan(folder);
  if (wanted("histogram"))
    tune_histogram(folder);
  fill_f32<<<1056, 512>>>((float *)x, (size_t)1 << largest, 1); // what the histograms wrote over
  CHECK(cudaDeviceSynchronize());
}

static void read_text(const char *path) {
  FILE *from = fopen(path, "rb");
  unsigned char buffer[65536];
  if (!from) {
    perror(path);
    exit(2);
  }
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, from)) > 0;)
    text.insert(text.end(), buffer, buffer + got);
  fclose(from);
}

int main(int argc, char **argv) {
  std::vector<std::string> asked;
  std::string folder;
  if (argc < 2) {
    fprintf(stderr,
            "usage: ops_bench FILE.tsv [reduce] [dot] [scan] [histogram] [map] [accuracy] [text=FILE]... "
            "[tune=FOLDER] [n=LOG2]\n");
    return 2;
  }
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], "text=", 5) == 0)
      read_text(argv[i] + 5);
    else if (strncmp(argv[i], "tune=", 5) == 0)
      folder = argv[i] + 5;
    else if (strncmp(argv[i], "n=", 2) == 0)
      largest = (unsigned)atoi(argv[i] + 2);
    else
      asked.push_back(argv[i]);
  }
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(0));
  MUST(muster_open(getenv("MUSTER_DEVICE") ? NULL : "gpu", &device));
  file = fopen(argv[1], "w");
  if (!file) {
    perror(argv[1]);
    return 2;
  }
  muster_device_info info = MUSTER_DEVICE_INFO_INIT;
  MUST(muster_device_get(device, &info));
  multiprocessors = info.multiprocessors;
  fprintf(file, "# %s, %u multiprocessors, %u kHz; median of %d rounds\n", info.name, info.multiprocessors,
          info.clock_khz, ROUNDS);
  fprintf(file, "what\tinput\tn\tbins\tmethod\twhere\tus_min\tus\tus_max\tGB/s\ttimes_baseline\n");
  size_t n = (size_t)1 << largest, room = std::max(n * 4, (size_t)16 << 20), needed = 0;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&x, room));
  CHECK(cudaMalloc(&y, room));
  CHECK(cudaMalloc(&out, room));
  CHECK(cudaMalloc(&out2, room));
  fill_f32<<<1056, 512>>>((float *)x, n, 1);
  fill_f32<<<1056, 512>>>((float *)y, n, 77);
  CHECK(cudaDeviceSynchronize());
  MUST(muster_reduce_workspace(device, MUSTER_SUM, MUSTER_f32, n, &needed));
  workspace_bytes = needed;
  MUST(muster_scan_workspace(device, MUSTER_SUM, MUSTER_f32, n, &needed));
  workspace_bytes = std::max(workspace_bytes, needed);
  MUST(muster_histogram_workspace(device, MUSTER_u32, 1 << 20, n, &needed));
  workspace_bytes = std::max(workspace_bytes, needed);
  CHECK(cudaMalloc(&workspace, workspace_bytes));
  cub_bytes = (size_t)4 << 30;
  if (cudaMalloc(&cub_workspace, cub_bytes) != cudaSuccess) { // a small device
    cudaGetLastError();
    CHECK(cudaMalloc(&cub_workspace, cub_bytes = (size_t)64 << 20));
  }
  printf("%s. In a stream, in a graph; times the baseline.\n", info.name);
  bool none = std::find(asked.begin(), asked.end(), "none") != asked.end();
  auto named = [&](const char *name) {
    return asked.size() == (none ? 1 : 0) || std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  auto wanted = [&](const char *name) { return !none && named(name); };
  if (wanted("reduce"))
    bench_reduce();
  if (wanted("dot"))
    bench_dot();
  if (wanted("scan"))
    bench_scan();
  if (wanted("map"))
    bench_map();
  if (!folder.empty())
    tune(folder, named);
  if (wanted("accuracy")) // these two last: they write their own inputs
    bench_accuracy();
  if (wanted("histogram"))
    bench_histogram();
  CHECK(cudaDeviceSynchronize());
  fclose(file);
  muster_close(device);
  printf("%s\n", wrong ? "WRONG results" : "all results agree");
  return wrong != 0;
}
