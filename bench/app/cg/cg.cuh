// cg.cuh: conjugate gradients for a sparse symmetric matrix in CSR: the steps, as functions of a block. Who
// calls them (one kernel with a barrier between the steps, or a kernel a step) is in bench.cu.
//
// The form is that of Ghysels and Vanroose: r, w = A r and p, s = A p, z = A s are all kept up by
// recurrences, so that both dot products of an iteration, (r,r) and (w,r), and the vector that A is applied
// to, w, are there at the same time: the blocks have to meet once an iteration, where the textbook's form has
// them meet three times.
//
// A block owns consecutive rows; what it keeps of r, p, s, z and the solution x nobody else reads. Others
// read its part of w, and its part of the sums; both have two places that take turns, so that a block that is
// ahead spoils nothing for those that still read.
//
// Multiplications with additions are written as fma(), so that every host computes the same bits.
#ifndef CG_CUH
#define CG_CUH

#include "muster/collect.cuh"

enum vector { Z, S, P, R, X, VECTORS };

// Row i has the entries begin[i] to begin[i + 1] - 1.
struct matrix {
  unsigned rows;
  const unsigned *begin, *column;
  const double *value;
};

struct __align__(16) sums {
  double rr, wr; // of some threads, or of all
};

// How far to go, and what the next iteration needs to know of this one.
struct stride {
  double alpha, beta, per_alpha, per_rr; // per_: one over it
};

struct problem {
  struct matrix a;
  const double *right; // A x = right; x begins as 0
  double *vectors;     // VECTORS of them, one behind the other
  // Two of each, by parity of the iteration:
  double *w;
  struct sums *of_block;     // [block]
  struct stride *last;       // for hosts that cannot keep it
  void *workspace;           // of a barrier over the grid
  unsigned iterations, kept; // how many of the vectors are kept in shared memory
  unsigned *failed;
};

// A block's part of the vectors, each in global or in shared memory.
struct part {
  unsigned first, rows;
  double *of[VECTORS];
};

static __host__ __device__ inline unsigned rows_each(unsigned rows, unsigned blocks) {
  return (rows + blocks - 1) / blocks;
}

static __device__ inline struct part part_of(const struct problem *c, double *room) {
  const unsigned each = rows_each(c->a.rows, mu_grid_blocks());
  struct part part;
  part.first = mu_block() * each < c->a.rows ? mu_block() * each : c->a.rows;
  part.rows = c->a.rows - part.first < each ? c->a.rows - part.first : each;
  _Pragma("unroll") for (unsigned v = 0; v < VECTORS; v++) part.of[v] =
      v < c->kept ? room + v * each : c->vectors + (size_t)v * c->a.rows + part.first;
  return part;
}

// The sums of a block's threads, in its thread 0. Between two calls the block has to meet.
static __device__ inline struct sums warp_sum(struct sums mine) {
  mu_tile warp = mu_tile_warp();
  mine.rr = mu_tile_reduce_add_f64(&warp, mine.rr);
  mine.wr = mu_tile_reduce_add_f64(&warp, mine.wr);
  return mine;
}
static __device__ inline struct sums block_sum(struct sums mine) {
  __shared__ struct sums of_warp[32];
  const struct sums none = {0, 0};
  mine = warp_sum(mine);
  if (mu_lane() == 0)
    of_warp[mu_warp()] = mine;
  mu_block_sync();
  if (mu_thread() < 32)
    mine = warp_sum(mu_thread() < mu_block_warps() ? of_warp[mu_thread()] : none);
  return mine;
}

// Where the sums of the blocks lie. Those that come after a barrier or a kernel boundary see what was shown.
static __device__ inline struct sums *sums_of(const struct problem *c, unsigned parity) {
  return c->of_block + parity * mu_grid_blocks();
}
static __device__ inline void show(const struct problem *c, unsigned parity, struct sums mine) {
  if (mu_thread() == 0)
    sums_of(c, parity)[mu_block()] = mine;
}

// The sums of all blocks in thread 0. As many loads as possible are on their way at once.
static __device__ inline struct sums grid_sum(const struct problem *c, unsigned parity) {
  enum { AT_ONCE = 5 };
  const struct sums *of_block = sums_of(c, parity);
  struct sums sum = {0, 0};
  if (mu_thread() >= 32)
    return sum;
  for (unsigned from = mu_lane(); from < mu_grid_blocks(); from += AT_ONCE * 32) {
    struct sums got[AT_ONCE];
    _Pragma("unroll") for (int i = 0; i < AT_ONCE; i++) {
      got[i].rr = got[i].wr = 0;
      if (from + i * 32 < mu_grid_blocks())
        got[i] = of_block[from + i * 32];
    }
    _Pragma("unroll") for (int i = 0; i < AT_ONCE; i++) {
      sum.rr += got[i].rr;
      sum.wr += got[i].wr;
    }
  }
  return warp_sum(sum);
}

static __device__ inline double row_times(const struct matrix *a, unsigned row, const double *vector) {
  double sum = 0;
  for (unsigned i = a->begin[row], end = a->begin[row + 1]; i < end; i++)
    sum = fma(a->value[i], vector[a->column[i]], sum);
  return sum;
}

// Before the first iteration. Returns the block's sums in thread 0.
static __device__ inline struct sums begin(const struct problem *c, const struct part *part) {
  struct sums mine = {0, 0};
  MU_FOR_BLOCK(i, part->rows) {
    double r = c->right[part->first + i], w = row_times(&c->a, part->first + i, c->right);
    part->of[Z][i] = part->of[S][i] = part->of[P][i] = part->of[X][i] = 0;
    part->of[R][i] = r;
    c->w[part->first + i] = w;
    mine.rr = fma(r, r, mine.rr);
    mine.wr = fma(w, r, mine.wr);
  }
  return block_sum(mine);
}
static __device__ inline struct stride before_first(void) {
  struct stride none = {0, 0, 0, 0};
  return none;
}

// What follows from the sums of all blocks, ALL in thread 0.
static __device__ inline struct stride next_stride(struct stride last, struct sums all) {
  __shared__ struct stride next;
  if (mu_thread() == 0) {
    next.per_rr = 1 / all.rr;
    next.beta = all.rr * last.per_rr;
    next.per_alpha = fma(all.wr, next.per_rr, -next.beta * last.per_alpha);
    next.alpha = 1 / next.per_alpha;
  }
  mu_block_sync();
  return next;
}

// An iteration. Returns the block's sums in thread 0.
static __device__ inline struct sums iterate(const struct problem *c, const struct part *part,
                                             unsigned parity, struct stride stride) {
  const double *w_now = c->w + (parity ? c->a.rows : 0);
  double *w_next = c->w + (parity ? 0 : c->a.rows);
  struct sums mine = {0, 0};
  MU_FOR_BLOCK(i, part->rows) {
    const unsigned row = part->first + i;
    double q = row_times(&c->a, row, w_now), w = w_now[row], r = part->of[R][i];
    double z = fma(stride.beta, part->of[Z][i], q), s = fma(stride.beta, part->of[S][i], w),
           p = fma(stride.beta, part->of[P][i], r);
    part->of[Z][i] = z;
    part->of[S][i] = s;
    part->of[P][i] = p;
    part->of[X][i] = fma(stride.alpha, p, part->of[X][i]);
    part->of[R][i] = r = fma(-stride.alpha, s, r);
    w_next[row] = w = fma(-stride.alpha, z, w);
    mine.rr = fma(r, r, mine.rr);
    mine.wr = fma(w, r, mine.wr);
  }
  return block_sum(mine);
}

#endif
