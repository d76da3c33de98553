/* layout.h: what the kernels of this folder and the host code that launches them agree on. */
#ifndef MUSTER_OPS_LAYOUT_H
#define MUSTER_OPS_LAYOUT_H

/* A workspace begins with a line of words that count; zeroed once, every launch leaves it ready for the next.
 */
enum { OPS_HEADER_BYTES = 128 };

/* What follows can be set by hand: bench/ops/variants.sh does, to find the best. RESIDENT is how many blocks
 * shall fit a multiprocessor. */

/* Reductions: the most threads of a block, vectors that a thread loads at once, and, for the workspace, the
 * most blocks and what each tells there. */
#ifndef OPS_REDUCE_THREADS
#define OPS_REDUCE_THREADS 512
#define OPS_REDUCE_UNROLL 4
#define OPS_REDUCE_RESIDENT 2
/* Reductions of segments: the longest that a warp does by itself. */
#define OPS_SEGMENTS_THREADS 256
#define OPS_SEGMENTS_SHORT 4096

/* Conversions: elements for each thread. */
#define OPS_CONVERT_THREADS 256
#define OPS_CONVERT_ELEMS 8

#endif
#define OPS_REDUCE_BLOCKS 256
#define OPS_PARTIAL_BYTES 32

/* Scans: a block's tile is ROWS vectors for each thread. Sums are told in two words each: of a tile, of a
 * group of tiles, of everything before a field of groups. */
#ifndef OPS_SCAN_LARGE_THREADS
#define OPS_SCAN_LARGE_THREADS 512
#define OPS_SCAN_LARGE_ROWS 4
#define OPS_SCAN_LARGE_RESIDENT 1
#endif
#ifndef OPS_SCAN_LOOKERS
#define OPS_SCAN_LOOKERS 2
#endif
/* Warps beside the workers', the most slots of a streamed scan, and one: a tile, and for each warp of it two
 * sums. */
#define OPS_SCAN_HELPERS (2 + OPS_SCAN_LOOKERS)
#define OPS_SCAN_SLOTS 6u
#define OPS_SCAN_SLOT_BYTES \
  (OPS_SCAN_LARGE_THREADS * OPS_SCAN_LARGE_ROWS * 16 + OPS_SCAN_LARGE_THREADS / 32 * 16 + 48)
#define OPS_SCAN_MEDIUM_THREADS 1024
#define OPS_SCAN_MEDIUM_ROWS 8
#define OPS_SCAN_MEDIUM_RESIDENT 1
#define OPS_SCAN_SMALL_THREADS 256
#define OPS_SCAN_SMALL_ROWS 4
#define OPS_SCAN_SMALL_RESIDENT 4
#define OPS_SCAN_TOLD_BYTES 16
#define OPS_SCAN_GROUP 32u                               /* tiles of a group: a lane each */
#define OPS_SCAN_FIELD (OPS_SCAN_GROUP * OPS_SCAN_GROUP) /* tiles of a field */

/* Tiles of what looks back by look_back.cuh: scans of extremes, vectors for each thread; selections, elements
 * for each thread. */
#define OPS_TILE_THREADS 256
#define OPS_TILE_ROWS 4
#define OPS_TILE_ELEMS 16
#define OPS_TILE_RESIDENT 4
#define OPS_TILE_TOLD_BYTES 32

/* How elements are compared: as unsigned keys made of their bits; key 0 comes before all, the greatest key
 * stands for nothing. */
typedef struct ops_order {
  unsigned long long top;      /* the sign's bit; 0: unsigned */
  unsigned long long infinity; /* its bits; 0: integers */
  unsigned long long turned;   /* what is xored to a key: ~0 for the greatest */
  unsigned long long nan;      /* the key of a NaN */
  unsigned long long nothing;  /* the bits that the greatest key stands for */
} ops_order;

/* Histograms: the counters of a bin that lie side by side, and up to how many bins there are as many. Where
 * counters do not fit, a block counts this many elements a thread (at least) before it gives up its choice of
 * bins. */
#ifndef OPS_HISTOGRAM_THREADS
#define OPS_HISTOGRAM_THREADS 1024
#define OPS_HISTOGRAM_UNROLL 4
#define OPS_HISTOGRAM_RESIDENT 1
#endif
#define OPS_HISTOGRAM_CHOICE 512
#define OPS_HISTOGRAM_COPIES 32
#define OPS_HISTOGRAM_COPIED_BINS 256
#define OPS_HISTOGRAM_BINS (1u << 20)

/* Histograms between edges: up to how many bins a block adds up by itself. */
#define OPS_RANGE_THREADS 256
#define OPS_RANGE_SHARED_BINS 2048

/* Maps: a block's tile is UNROLL vectors for each thread. */
#define OPS_MAP_THREADS 512
#define OPS_MAP_UNROLL 4

#endif
