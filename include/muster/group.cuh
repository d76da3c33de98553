// group.cuh: groups of blocks: who takes part, which of them I am, how many there are.
//
// A group is a value that every thread computes for itself; making one costs a few instructions, touches no
// memory and synchronises nothing. Barriers (barrier.cuh) and collectives (collect.cuh) take it.
//
//   mu_group_grid()                    every block of the grid
//   mu_group_<x|y|z>()                 blocks that differ in that dimension only: a row, a column, a pillar
//   mu_group_<xy|xz|yz>()              blocks that differ in those two: a plane
//   mu_group_chunk(n)                  blocks 0..n-1, n..2n-1, ... in linear order; the last may be smaller
//   mu_group_stride(s)                 blocks i, i+s, i+2s, ...
//   mu_group_range(first, n, index)    blocks first..first+n-1
//   mu_group_list(list, n, index)      the blocks whose linear numbers stand in list[0..n-1]
//   mu_group_cluster()                 the hardware cluster; before 9.0, or without one, this block alone
//   mu_group_cluster_of(n)             the same where the launch has clusters of n blocks, else a chunk of n:
//                                      one source for every GPU
//   mu_group_split(g, n)               sub-groups of n of a group's members, in rank order
//   mu_group_devices(g, device, devices)   the members of equal groups on several GPUs
//   mu_group_member(g, rank)           the linear number of the block that has this rank
//
// Several groups of one kind have an `index` each, 0 to `groups`-1: barriers find their slot of the workspace
// by it. For range and list the caller numbers them, each number once for the whole workspace.
//
// Callers     any thread; all threads of a block must make the same group.
// Returns     a group with rank MU_NOBODY where the calling block is not in the range or list.
// Undefined   if the grid has 2^32 blocks or more; a list names a block twice.
// Cost        some ten instructions; a list is searched: n loads.
#ifndef MUSTER_GROUP_CUH
#define MUSTER_GROUP_CUH

#include "insn.cuh"

#if MU_DEVICE

#define MU_NOBODY 0xffffffffu

// A group as this block sees it: for reading; the functions below make one.
typedef struct {
  mu_u32 rank;     // of this block, 0 to blocks - 1
  mu_u32 blocks;   // how many take part
  mu_u32 index;    // which of the groups of this kind
  mu_u32 largest;  // blocks of the largest of them: their slots have that size
  mu_u32 hardware; // 1: a hardware cluster
  mu_u32 devices;  // over how many GPUs: above 1 the scope is the system
  // Member r is block first + r % inner * step + r / inner * leap; or list[first + r].
  mu_u32 first, step, inner, leap;
  const mu_u32 *list;
} mu_group;

// Contract: the head of this file.
MU_OWN mu_group mu_group_make(mu_u32 rank, mu_u32 blocks, mu_u32 index, mu_u32 first, mu_u32 step) {
  mu_group g;
  g.rank = rank;
  g.blocks = g.largest = g.inner = blocks;
  g.index = index;
  g.hardware = 0;
  g.devices = 1;
  g.first = first;
  g.step = step;
  g.leap = 0;
  g.list = 0;
  return g;
}

MU_FN mu_group mu_group_grid(void) {
  return mu_group_make(mu_block(), mu_grid_blocks(), 0, 0, 1);
}

MU_FN mu_group mu_group_x(void) {
  mu_u32 index = mu_block_y() + mu_grid_blocks_y() * mu_block_z();
  return mu_group_make(mu_block_x(), mu_grid_blocks_x(), index, index * mu_grid_blocks_x(), 1);
}

MU_FN mu_group mu_group_y(void) {
  mu_u32 gx = mu_grid_blocks_x(), gy = mu_grid_blocks_y();
  return mu_group_make(mu_block_y(), gy, mu_block_x() + gx * mu_block_z(),
                       mu_block_x() + gx * gy * mu_block_z(), gx);
}

MU_FN mu_group mu_group_z(void) {
  mu_u32 plane = mu_grid_blocks_x() * mu_grid_blocks_y(),
         index = mu_block_x() + mu_grid_blocks_x() * mu_block_y();
  return mu_group_make(mu_block_z(), mu_grid_blocks_z(), index, index, plane);
}

MU_FN mu_group mu_group_xy(void) {
  mu_u32 gx = mu_grid_blocks_x(), gy = mu_grid_blocks_y();
  return mu_group_make(mu_block_x() + gx * mu_block_y(), gx * gy, mu_block_z(), gx * gy * mu_block_z(), 1);
}

MU_FN mu_group mu_group_xz(void) {
  mu_u32 gx = mu_grid_blocks_x(), gy = mu_grid_blocks_y(), gz = mu_grid_blocks_z();
  mu_group g = mu_group_make(mu_block_x() + gx * mu_block_z(), gx * gz, mu_block_y(), gx * mu_block_y(), 1);
  g.inner = gx;
  g.leap = gx * gy;
  return g;
}

MU_FN mu_group mu_group_yz(void) {
  mu_u32 gx = mu_grid_blocks_x(), gy = mu_grid_blocks_y(), gz = mu_grid_blocks_z();
  return mu_group_make(mu_block_y() + gy * mu_block_z(), gy * gz, mu_block_x(), mu_block_x(), gx);
}

MU_FN mu_group mu_group_chunk(mu_u32 blocks) {
  mu_u32 me = mu_block(), all = mu_grid_blocks(), index = me / blocks, first = index * blocks;
  mu_group g = mu_group_make(me - first, all - first < blocks ? all - first : blocks, index, first, 1);
  g.largest = all < blocks ? all : blocks;
  return g;
}

MU_FN mu_group mu_group_stride(mu_u32 stride) {
  mu_u32 me = mu_block(), all = mu_grid_blocks(), index = me % stride;
  mu_group g = mu_group_make(me / stride, (all - index + stride - 1) / stride, index, index, stride);
  g.largest = (all + stride - 1) / stride;
  return g;
}

MU_FN mu_group mu_group_range(mu_u32 first, mu_u32 blocks, mu_u32 index) {
  mu_u32 me = mu_block() - first;
  return mu_group_make(me < blocks ? me : MU_NOBODY, blocks, index, first, 1);
}

MU_FN mu_group mu_group_list(const mu_u32 *list, mu_u32 blocks, mu_u32 index) {
  mu_u32 rank = MU_NOBODY, me = mu_block();
  for (mu_u32 i = 0; i < blocks; i++)
    if (list[i] == me)
      rank = i;
  mu_group g = mu_group_make(rank, blocks, index, 0, 0);
  g.list = list;
  return g;
}

MU_FN mu_group mu_group_cluster(void) {
#if MU_HAS_CLUSTER
  mu_u32 nx = mu_cluster_blocks_x(), ny = mu_cluster_blocks_y();
  mu_u32 gx = mu_grid_blocks_x(), gy = mu_grid_blocks_y();
  mu_u32 index =
      mu_cluster_x() + mu_grid_clusters_x() * (mu_cluster_y() + mu_grid_clusters_y() * mu_cluster_z());
  mu_group g = mu_group_make(mu_cluster_rank(), mu_cluster_blocks(), index, 0, 1);
  g.first = mu_cluster_x() * nx + gx * (mu_cluster_y() * ny + gy * (mu_cluster_z() * mu_cluster_blocks_z()));
  g.inner = nx; // a cluster that is deep as well as wide and high is named by rank only
  g.leap = ny == 1 ? gx * gy : gx;
  g.hardware = g.blocks > 1;
  return g;
#else
  return mu_group_make(0, 1, mu_block(), mu_block(), 1);
#endif
}

MU_FN mu_group mu_group_cluster_of(mu_u32 blocks) {
#if MU_HAS_CLUSTER
  if (mu_cluster_blocks() == blocks)
    return mu_group_cluster();
#endif
  return mu_group_chunk(blocks);
}

MU_FN mu_u32 mu_group_member(const mu_group *g, mu_u32 rank) {
  if (g->list)
    return g->list[g->first + rank];
  return g->first + rank % g->inner * g->step + rank / g->inner * g->leap;
}

// Sub-groups of `blocks` consecutive ranks of g; the last may be smaller. Their index counts through all
// groups of g's kind.
MU_FN mu_group mu_group_split(const mu_group *g, mu_u32 blocks) {
  mu_group part = *g;
  mu_u32 each = (g->largest + blocks - 1) / blocks, which = g->rank / blocks, from = which * blocks;
  if (g->rank == MU_NOBODY)
    return part;
  part.rank = g->rank - from;
  part.blocks = g->blocks - from < blocks ? g->blocks - from : blocks;
  part.index = g->index * each + which;
  part.largest = g->largest < blocks ? g->largest : blocks;
  part.hardware = 0;
  if (g->list || g->inner == g->blocks) { // in one line: move its beginning
    part.first = g->list ? g->first + from : mu_group_member(g, from);
    part.inner = part.blocks;
  } else { // in a plane: a part may begin anywhere; it is named by rank only
    part.first = mu_group_member(g, from);
    part.inner = g->inner;
  }
  return part;
}

// This group together with its like on `devices` GPUs, of which this is number `device`: ranks go GPU by GPU.
// The workspace is memory that every one of the GPUs can reach; order then holds at system scope.
MU_FN mu_group mu_group_devices(const mu_group *g, mu_u32 device, mu_u32 devices) {
  mu_group all = *g;
  if (g->rank != MU_NOBODY)
    all.rank = device * g->blocks + g->rank;
  all.blocks = g->blocks * devices;
  all.largest = g->largest * devices;
  all.devices = devices;
  all.hardware = 0;
  return all;
}

#endif
#endif
