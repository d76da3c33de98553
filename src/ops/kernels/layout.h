/* layout.h: what the kernels of this folder and the host code that launches them agree on. */
#ifndef MUSTER_OPS_LAYOUT_H
#define MUSTER_OPS_LAYOUT_H

/* A workspace begins with a line of words that count; zeroed once, every launch leaves it ready for the next.
 */
enum { OPS_HEADER_BYTES = 128 };

/* Reductions: threads of a block, the most blocks, and what each block leaves behind the header. */
enum { OPS_REDUCE_THREADS = 512, OPS_REDUCE_BLOCKS = 1024, OPS_REDUCE_UNROLL = 4, OPS_PARTIAL_BYTES = 16 };

#endif
