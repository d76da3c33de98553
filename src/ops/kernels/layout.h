/* layout.h: what the kernels of this folder and the host code that launches them agree on. */
#ifndef MUSTER_OPS_LAYOUT_H
#define MUSTER_OPS_LAYOUT_H

/* A workspace begins with a line of words that count; zeroed once, every launch leaves it ready for the next.
 */
enum { OPS_HEADER_BYTES = 128 };

/* What follows can be set by hand: bench/ops/variants.sh does, to find the best. RESIDENT is how many blocks
 * shall fit a multiprocessor. */

/* Reductions: threads of a block, vectors that a thread loads at once, and, for the workspace, the most
 * blocks and what each leaves there. */
#ifndef OPS_REDUCE_THREADS
#define OPS_REDUCE_THREADS 512
#define OPS_REDUCE_UNROLL 4
#define OPS_REDUCE_RESIDENT 2
#endif
#define OPS_REDUCE_BLOCKS 1024
#define OPS_PARTIAL_BYTES 16

/* Scans: a block's tile is ROWS vectors for each thread; a tile's state is two words. */
#ifndef OPS_SCAN_THREADS
#define OPS_SCAN_THREADS 512
#define OPS_SCAN_ROWS 8
#define OPS_SCAN_RESIDENT 2
#endif
#define OPS_SCAN_STATE_BYTES 16

/* Histograms: the counters of a bin that lie side by side, and up to how many bins there are as many. */
#ifndef OPS_HISTOGRAM_THREADS
#define OPS_HISTOGRAM_THREADS 1024
#define OPS_HISTOGRAM_UNROLL 2
#define OPS_HISTOGRAM_RESIDENT 2
#endif
#define OPS_HISTOGRAM_COPIES 32
#define OPS_HISTOGRAM_COPIED_BINS 256
#define OPS_HISTOGRAM_BINS (1u << 20)

/* Maps: a block's tile is UNROLL vectors for each thread. */
#define OPS_MAP_THREADS 512
#define OPS_MAP_UNROLL 4

#endif
