/* layout.h: what the kernels of this folder and the host code that launches them agree on. */
#ifndef MUSTER_OPS_LAYOUT_H
#define MUSTER_OPS_LAYOUT_H

/* A workspace begins with a line of words that count; zeroed once, every launch leaves it ready for the next.
 */
enum { OPS_HEADER_BYTES = 128 };

/* Reductions: threads of a block, the most blocks, and what each block leaves behind the header. */
enum { OPS_REDUCE_THREADS = 512, OPS_REDUCE_BLOCKS = 1024, OPS_REDUCE_UNROLL = 4, OPS_PARTIAL_BYTES = 16 };

/* Histograms: the counters of a bin that lie side by side, and up to how many bins there are as many. */
enum {
  OPS_HISTOGRAM_THREADS = 1024,
  OPS_HISTOGRAM_UNROLL = 2,
  OPS_HISTOGRAM_COPIES = 32,
  OPS_HISTOGRAM_COPIED_BINS = 256,
  OPS_HISTOGRAM_BINS = 1 << 20
};

/* Scans: a block's tile is so many vectors of 16 bytes for each thread; a tile's state is two words. */
enum { OPS_SCAN_THREADS = 512, OPS_SCAN_ROWS = 8, OPS_SCAN_STATE_BYTES = 16 };

/* Maps: a block's tile is so many vectors of 16 bytes for each thread. */
enum { OPS_MAP_THREADS = 512, OPS_MAP_UNROLL = 4 };

#endif
