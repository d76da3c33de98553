// insn.cuh: every memory, fence, barrier and clock instruction, as inline PTX with its order and scope in its
// name. Nothing else in these headers holds an instruction's text, but warp.cuh for shuffles and votes.
//
// Compilers' own atomics drop order or scope (clang) or want literals and a header (CUDA); inline PTX says
// what is meant. The names:
//
//   mu_load_<relaxed|acquire>_<scope>_<elem>(address)
//   mu_store_<relaxed|release>_<scope>_<elem>(address, value)
//   mu_<op>_<order>_<scope>_<elem>(address, operand)    read, change, write; returns the old value
//   mu_red_<op>_<relaxed|release>_<scope>_<elem>(address, operand)
//                                                       the same without it: the cheapest signal
//   mu_exchange_<order>_<scope>_<elem>(address, value)  returns the old value
//   mu_cas_<order>_<scope>_<elem>(address, expected, desired)   the same
//   mu_fence_<acq_rel|sc>_<scope>()
//
//   mu_global_<load|store|op|exchange|cas|red_op>_<order>_<scope>_<elem>
//   mu_shared_<load|store|op|exchange|cas|red_op>_<order>_<scope>_<elem>
//                                                       for addresses that are known to lie there: shorter
//                                                       instructions. All others take any address
//
//   mu_<thread|block_threads|block|grid_blocks>_<d>()   coordinates and extents, d one of x y z
//   mu_cluster_block_<d>(), mu_cluster_blocks_<d>(), mu_cluster_<d>(), mu_grid_clusters_<d>(),
//   mu_cluster_rank(), mu_cluster_blocks()              the same for hardware clusters, from 9.0 on
//   mu_lane(), mu_lanes_below()                         in the warp; the mask of the lanes below
//   mu_grid_nonce()                                     the hardware's number of the launch
//   mu_multiprocessor()                                 on which of them this block runs
//   mu_grid_thread_<d>(), mu_grid_threads_<d>()         in the whole grid; 64 bits
//   mu_bar_<or|and>(predicate), mu_bar_<or|and>_part(predicate, id, threads)
//                                                       a barrier of the block with a vote
//   mu_cluster_<arrive|arrive_relaxed|wait>()           barrier of a hardware cluster, by all its threads
//   mu_<f16|bf16|f16x2|bf16x2>_of_bits(bits)
//
// op: add min max and or xor inc dec, where PTX has them for the type (atomic.cuh has the rest). order:
// relaxed, acquire, release, acq_rel. scope: block, cluster, device, system. elem: as in types.h.
//
// Callers     any thread, alone. Addresses are aligned to the element.
// Order       as named, in PTX's memory consistency model; a relaxed access is strong (morally strong with
//             others of its scope) but orders nothing else.
// Cost        a release is a fence in front of the access, 170 to 250 ns on an H200; an acquire empties the
//             L1 cache behind the access; read-modify-writes of one address are served one after the other.
// Before 7.0  order comes from fences around volatile accesses and plain atomics. Before 9.0 the cluster
//             scope is the device scope.
#ifndef MUSTER_INSN_CUH
#define MUSTER_INSN_CUH

#include "device.cuh"

#if MU_DEVICE

#define MU_GET_VALUE(reg, value) ((reg)(value))
#define MU_MAKE_VALUE(elem, bits) ((mu_##elem)(bits))
#define MU_GET_BITS(reg, value) ((value).bits)
#define MU_MAKE_BITS(elem, value) mu_##elem##_of_bits(value)
#define MU_OF_BITS(elem, reg)                  \
  MU_FN mu_##elem mu_##elem##_of_bits(reg b) { \
    mu_##elem made;                            \
    made.bits = b;                             \
    return made;                               \
  }
MU_OF_BITS(f16, mu_u16)
MU_OF_BITS(bf16, mu_u16)
MU_OF_BITS(f16x2, mu_u32)
MU_OF_BITS(bf16x2, mu_u32)

// Where the thread is. Constant during a launch, so not volatile: the compiler keeps or repeats them freely.
#define MU_LETTER_u32 "=r"
#define MU_LETTER_u64 "=l"
#define MU_SREG(elem, name, ptx)                                      \
  MU_FN mu_##elem mu_##name(void) {                                   \
    mu_##elem value;                                                  \
    MU_ASM("mov." #elem " %0, %%" ptx ";" : MU_LETTER_##elem(value)); \
    return value;                                                     \
  }
#include "insn.def"

// PTX's names of scopes and orders, and the fences that stand for them before 7.0.
#define MU_PTX_SCOPE_block ".cta"
#define MU_PTX_SCOPE_device ".gpu"
#define MU_PTX_SCOPE_system ".sys"
#if MU_HAS_CLUSTER
#define MU_PTX_SCOPE_cluster ".cluster"
#else
#define MU_PTX_SCOPE_cluster ".gpu"
#endif
#if MU_HAS_ORDER
#define MU_PTX_LOAD_relaxed(scope) "ld.relaxed" MU_PTX_SCOPE_##scope
#define MU_PTX_LOAD_acquire(scope) "ld.acquire" MU_PTX_SCOPE_##scope
#define MU_PTX_STORE_relaxed(scope) "st.relaxed" MU_PTX_SCOPE_##scope
#define MU_PTX_STORE_release(scope) "st.release" MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_relaxed(what, scope) what ".relaxed" MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_acquire(what, scope) what ".acquire" MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_release(what, scope) what ".release" MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_acq_rel(what, scope) what ".acq_rel" MU_PTX_SCOPE_##scope
#define MU_PTX_FENCE_acq_rel(scope) "fence.acq_rel" MU_PTX_SCOPE_##scope ";"
#define MU_PTX_FENCE_sc(scope) "fence.sc" MU_PTX_SCOPE_##scope ";"
#define MU_PTX_AFTER_relaxed(scope) ""
#define MU_PTX_AFTER_acquire(scope) ""
#define MU_PTX_AFTER_release(scope) ""
#define MU_PTX_AFTER_acq_rel(scope) ""
#else
#define MU_PTX_MEMBAR_block "membar.cta;"
#define MU_PTX_MEMBAR_cluster "membar.gl;"
#define MU_PTX_MEMBAR_device "membar.gl;"
#define MU_PTX_MEMBAR_system "membar.sys;"
#define MU_PTX_LOAD_relaxed(scope) "ld.volatile"
#define MU_PTX_LOAD_acquire(scope) "ld.volatile"
#define MU_PTX_STORE_relaxed(scope) "st.volatile"
#define MU_PTX_STORE_release(scope) MU_PTX_MEMBAR_##scope " st.volatile"
#define MU_PTX_ATOM_relaxed(what, scope) what MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_acquire(what, scope) what MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_release(what, scope) MU_PTX_MEMBAR_##scope " " what MU_PTX_SCOPE_##scope
#define MU_PTX_ATOM_acq_rel(what, scope) MU_PTX_MEMBAR_##scope " " what MU_PTX_SCOPE_##scope
#define MU_PTX_FENCE_acq_rel(scope) MU_PTX_MEMBAR_##scope
#define MU_PTX_FENCE_sc(scope) MU_PTX_MEMBAR_##scope
#define MU_PTX_AFTER_relaxed(scope) ""
#define MU_PTX_AFTER_acquire(scope) " " MU_PTX_MEMBAR_##scope
#define MU_PTX_AFTER_release(scope) ""
#define MU_PTX_AFTER_acq_rel(scope) " " MU_PTX_MEMBAR_##scope
#endif

#define MU_EACH_SCOPE(make, ...) \
  make(block, __VA_ARGS__) make(cluster, __VA_ARGS__) make(device, __VA_ARGS__) make(system, __VA_ARGS__)
#define MU_EACH_LOAD_ORDER(scope, make, ...) \
  make(relaxed, scope, __VA_ARGS__) make(acquire, scope, __VA_ARGS__)
#define MU_EACH_STORE_ORDER(scope, make, ...) \
  make(relaxed, scope, __VA_ARGS__) make(release, scope, __VA_ARGS__)
#define MU_EACH_ATOM_ORDER(scope, make, ...)                                                            \
  make(relaxed, scope, __VA_ARGS__) make(acquire, scope, __VA_ARGS__) make(release, scope, __VA_ARGS__) \
      make(acq_rel, scope, __VA_ARGS__)
#define MU_EACH_LOAD(...) MU_EACH_SCOPE(MU_EACH_LOAD_ORDER, __VA_ARGS__)
#define MU_EACH_STORE(...) MU_EACH_SCOPE(MU_EACH_STORE_ORDER, __VA_ARGS__)
#define MU_EACH_ATOM(...) MU_EACH_SCOPE(MU_EACH_ATOM_ORDER, __VA_ARGS__)

// Address spaces, as part of a name: none (generic), global_, shared_. An instruction that knows its space is
// shorter: a generic 64-bit atomic, say, asks at run time whether it is at work in shared memory.
#define MU_PTX_SPACE_ ""
#define MU_PTX_SPACE_global_ ".global"
#define MU_PTX_SPACE_shared_ ".shared"
#define MU_ADDRESS_(address) (address)
#define MU_ADDRESS_global_(address) mu_to_global(address)
#define MU_ADDRESS_shared_(address) mu_to_shared(address)
MU_OWN mu_u64 mu_to_global(const void *address) {
  mu_u64 inside;
  MU_ASM("cvta.to.global.u64 %0, %1;" : "=l"(inside) : "l"(address));
  return inside;
}
// A generic address as one in shared memory.
MU_FN mu_u64 mu_to_shared(const void *address) {
  mu_u64 inside;
  MU_ASM("cvta.to.shared.u64 %0, %1;" : "=l"(inside) : "l"(address));
  return inside;
}

// What the hardware cannot do at once in shared memory, which is all but words of 32 bits, compilers make a
// loop of compare-and-swaps of. ptxas 13.0 overlooks that this loop parts the lanes of a warp: the counter of
// a loop around it, kept once for the warp, then counts too often (bench/README.md). So lanes that came to
// such an atomic together leave it together.
#define MU_SPINS_u32 0
#define MU_SPINS_s32 0
#define MU_SPINS_u64 1
#define MU_SPINS_s64 1
#define MU_SPINS_f16 1
#define MU_SPINS_bf16 1
#define MU_SPINS_f16x2 1
#define MU_SPINS_bf16x2 1
#define MU_SPINS_f32 1
#define MU_SPINS_f64 1
MU_OWN mu_u32 mu_lanes_here(mu_u32 spins) {
  mu_u32 lanes = 0;
  if (spins && MU_LANES_PART)
    MU_ASM volatile("activemask.b32 %0;" : "=r"(lanes)::"memory");
  return lanes;
}
MU_OWN void mu_lanes_together(mu_u32 spins, mu_u32 lanes) {
  if (spins && MU_LANES_PART)
    MU_ASM volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory");
}

#define MU_FENCE(scope, order)                                 \
  MU_FN void mu_fence_##order##_##scope(void) {                \
    MU_ASM volatile(MU_PTX_FENCE_##order(scope):: : "memory"); \
  }
MU_EACH_SCOPE(MU_FENCE, acq_rel)
MU_EACH_SCOPE(MU_FENCE, sc)

#define MU_LOAD(order, scope, at, elem, reg, letter, ptx, make)                                             \
  MU_FN mu_##elem mu_##at##load_##order##_##scope##_##elem(const mu_##elem *address) {                      \
    reg value;                                                                                              \
    MU_ASM volatile(MU_PTX_LOAD_##order(scope) MU_PTX_SPACE_##at "." ptx " %0, [%1];" MU_PTX_AFTER_##order( \
        scope) : "=" letter(value) : "l"(MU_ADDRESS_##at(address)) : "memory");                             \
    return make(elem, value);                                                                               \
  }
#define MU_STORE(order, scope, at, elem, reg, letter, ptx, get)                               \
  MU_FN void mu_##at##store_##order##_##scope##_##elem(mu_##elem *address, mu_##elem value) { \
    MU_ASM volatile(MU_PTX_STORE_##order(scope) MU_PTX_SPACE_##at                             \
                    "." ptx " [%0], %1;" ::"l"(MU_ADDRESS_##at(address)),                     \
                    letter(get(reg, value)) : "memory");                                      \
  }
#define MU_ATOM_2(order, scope, at, op, elem, reg, letter, ptx, get, make, spins)                   \
  MU_FN mu_##elem mu_##at##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    reg old;                                                                                        \
    mu_u32 here = mu_lanes_here(spins);                                                             \
    MU_ASM volatile(MU_PTX_ATOM_##order("atom", scope) MU_PTX_SPACE_##at                            \
                    "." ptx " %0, [%1], %2;" MU_PTX_AFTER_##order(scope) : "=" letter(old) : "l"(   \
                        MU_ADDRESS_##at(address)),                                                  \
                    letter(get(reg, operand)) : "memory");                                          \
    mu_lanes_together(spins, here);                                                                 \
    return make(elem, old);                                                                         \
  }
#define MU_ATOM_RED(order, scope, at, op, elem, reg, letter, ptx, get, spins)                        \
  MU_FN void mu_##at##red_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    mu_u32 here = mu_lanes_here(spins);                                                              \
    MU_ASM volatile(MU_PTX_ATOM_##order("red", scope) MU_PTX_SPACE_##at                              \
                    "." ptx " [%0], %1;" ::"l"(MU_ADDRESS_##at(address)),                            \
                    letter(get(reg, operand)) : "memory");                                           \
    mu_lanes_together(spins, here);                                                                  \
  }
#define MU_ATOM_CAS(order, scope, at, elem, reg, letter, ptx, get, make)                                  \
  MU_FN mu_##elem mu_##at##cas_##order##_##scope##_##elem(mu_##elem *address, mu_##elem expected,         \
                                                          mu_##elem desired) {                            \
    reg old;                                                                                              \
    MU_ASM volatile(MU_PTX_ATOM_##order("atom", scope) MU_PTX_SPACE_##at                                  \
                    ".cas." ptx " %0, [%1], %2, %3;" MU_PTX_AFTER_##order(scope) : "=" letter(old) : "l"( \
                        MU_ADDRESS_##at(address)),                                                        \
                    letter(get(reg, expected)), letter(get(reg, desired)) : "memory");                    \
    return make(elem, old);                                                                               \
  }

// What is one instruction here. atomic.cuh adds what has to be made of several.
#define MU_MEM_AT(at, elem, reg, letter, ptx, get, make)  \
  MU_EACH_LOAD(MU_LOAD, at, elem, reg, letter, ptx, make) \
  MU_EACH_STORE(MU_STORE, at, elem, reg, letter, ptx, get)
#define MU_RMW_AT(at, op, elem, reg, letter, ptx, get, make, spins)         \
  MU_EACH_ATOM(MU_ATOM_2, at, op, elem, reg, letter, ptx, get, make, spins) \
  MU_EACH_STORE(MU_ATOM_RED, at, op, elem, reg, letter, ptx, get, spins)
#define MU_MEM(elem, reg, letter, ptx, get, make)       \
  MU_MEM_AT(, elem, reg, letter, ptx, get, make)        \
  MU_MEM_AT(global_, elem, reg, letter, ptx, get, make) \
  MU_MEM_AT(shared_, elem, reg, letter, ptx, get, make)
#define MU_RMW(op, elem, reg, letter, ptx, get, make, arch)    \
  MU_RMW_AT(, op, elem, reg, letter, ptx, get, make, 0)        \
  MU_RMW_AT(global_, op, elem, reg, letter, ptx, get, make, 0) \
  MU_RMW_AT(shared_, op, elem, reg, letter, ptx, get, make, MU_SPINS_##elem)
#define MU_EXCHANGE(elem, reg, letter, ptx, get, make, arch)                               \
  MU_EACH_ATOM(MU_ATOM_2, , exchange, elem, reg, letter, "exch." ptx, get, make, 0)        \
  MU_EACH_ATOM(MU_ATOM_2, global_, exchange, elem, reg, letter, "exch." ptx, get, make, 0) \
  MU_EACH_ATOM(MU_ATOM_2, shared_, exchange, elem, reg, letter, "exch." ptx, get, make, 0)
#define MU_CAS(elem, reg, letter, ptx, get, make, arch)                 \
  MU_EACH_ATOM(MU_ATOM_CAS, , elem, reg, letter, ptx, get, make)        \
  MU_EACH_ATOM(MU_ATOM_CAS, global_, elem, reg, letter, ptx, get, make) \
  MU_EACH_ATOM(MU_ATOM_CAS, shared_, elem, reg, letter, ptx, get, make)
#include "insn.def"

// 16 bytes as one access. A table row cannot say it: the value lies in two registers.
#if MU_HAS_B128
#define MU_LOAD_B128(order, scope, unused)                                                \
  MU_FN mu_b128 mu_load_##order##_##scope##_b128(const mu_b128 *address) {                \
    mu_b128 value;                                                                        \
    MU_ASM volatile("{.reg .b128 v; " MU_PTX_LOAD_##order(                                \
                        scope) ".b128 v, [%2]; mov.b128 {%0, %1}, v;}" : "=l"(value.low), \
                    "=l"(value.high) : "l"(address) : "memory");                          \
    return value;                                                                         \
  }
#define MU_STORE_B128(order, scope, unused)                                       \
  MU_FN void mu_store_##order##_##scope##_b128(mu_b128 *address, mu_b128 value) { \
    MU_ASM volatile("{.reg .b128 v; mov.b128 v, {%1, %2}; " MU_PTX_STORE_##order( \
                        scope) ".b128 [%0], v;}" ::"l"(address),                  \
                    "l"(value.low), "l"(value.high) : "memory");                  \
  }
MU_EACH_LOAD(MU_LOAD_B128, )
MU_EACH_STORE(MU_STORE_B128, )
#endif
#if MU_HAS_B128_ATOMIC
#define MU_EXCHANGE_B128(order, scope, unused)                                                          \
  MU_FN mu_b128 mu_exchange_##order##_##scope##_b128(mu_b128 *address, mu_b128 value) {                 \
    mu_b128 old;                                                                                        \
    MU_ASM volatile("{.reg .b128 o, v; mov.b128 v, {%3, %4}; " MU_PTX_ATOM_##order(                     \
                        "atom", scope) ".exch.b128 o, [%2], v; mov.b128 {%0, %1}, o;}" : "=l"(old.low), \
                    "=l"(old.high) : "l"(address), "l"(value.low), "l"(value.high) : "memory");         \
    return old;                                                                                         \
  }
#define MU_CAS_B128(order, scope, unused)                                                                    \
  MU_FN mu_b128 mu_cas_##order##_##scope##_b128(mu_b128 *address, mu_b128 expected, mu_b128 desired) {       \
    mu_b128 old;                                                                                             \
    MU_ASM volatile("{.reg .b128 o, e, d; mov.b128 e, {%3, %4}; mov.b128 d, {%5, %6}; " MU_PTX_ATOM_##order( \
                        "atom", scope) ".cas.b128 o, [%2], e, d; mov.b128 {%0, %1}, o;}" : "=l"(old.low),    \
                    "=l"(old.high) : "l"(address), "l"(expected.low), "l"(expected.high), "l"(desired.low),  \
                    "l"(desired.high) : "memory");                                                           \
    return old;                                                                                              \
  }
MU_EACH_ATOM(MU_EXCHANGE_B128, )
MU_EACH_ATOM(MU_CAS_B128, )
#endif

// Reads 16 bytes of memory that nobody writes during the launch, 16-byte aligned: no order, and the compiler
// may move it.
MU_FN mu_b128 mu_global_read_b128(const void *address) {
  mu_b128 value;
  MU_ASM volatile("ld.global.nc.v2.u64 {%0, %1}, [%2];" : "=l"(value.low),
                  "=l"(value.high) : "l"(mu_to_global(address)));
  return value;
}
// mu_shared_red_add_relaxed_block_u32 at the address that mu_to_shared gave, as 32 bits: half the work of
// computing it, for inner loops. The second form adds where `condition` is not 0, without a branch.
MU_FN void mu_shared_at_red_add_relaxed_block_u32(mu_u32 at, mu_u32 operand) {
  MU_ASM volatile(MU_PTX_ATOM_relaxed("red", block) ".shared.add.u32 [%0], %1;" ::"r"(at),
                  "r"(operand) : "memory");
}
MU_FN void mu_shared_at_red_add_if_relaxed_block_u32(mu_u32 at, mu_u32 operand, mu_u32 condition) {
  MU_ASM volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p " MU_PTX_ATOM_relaxed(
                      "red", block) ".shared.add.u32 [%0], %1;}" ::"r"(at),
                  "r"(operand), "r"(condition) : "memory");
}
// A plain store of 16 bytes, 16-byte aligned.
MU_FN void mu_global_write_b128(void *address, mu_b128 value) {
  MU_ASM volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(mu_to_global(address)), "l"(value.low),
                  "l"(value.high) : "memory");
}

// Barriers of the block. `bar` wants whole warps that arrive together; it is what __syncthreads is.
MU_FN void mu_bar_sync(void) {
  MU_ASM volatile("bar.sync 0;" :: : "memory");
}
// Named barrier `id` (1 to 15) by `threads` threads of the block, a multiple of 32; the second does not wait.
MU_FN void mu_bar_sync_part(mu_u32 id, mu_u32 threads) {
  MU_ASM volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
MU_FN void mu_bar_arrive_part(mu_u32 id, mu_u32 threads) {
  MU_ASM volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#define MU_BAR_RED(op)                                                                                   \
  MU_FN mu_u32 mu_bar_##op(mu_u32 predicate) {                                                           \
    mu_u32 result;                                                                                       \
    MU_ASM volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red." #op                               \
                    ".pred q, 0, p; selp.u32 %0, 1, 0, q;}" : "=r"(result) : "r"(predicate) : "memory"); \
    return result;                                                                                       \
  }                                                                                                      \
  MU_FN mu_u32 mu_bar_##op##_part(mu_u32 predicate, mu_u32 id, mu_u32 threads) {                         \
    mu_u32 result;                                                                                       \
    MU_ASM volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red." #op                               \
                    ".pred q, %2, %3, p; selp.u32 %0, 1, 0, q;}" : "=r"(result) : "r"(predicate),        \
                    "r"(id), "r"(threads) : "memory");                                                   \
    return result;                                                                                       \
  }
MU_BAR_RED(or)
MU_BAR_RED(and)
// A barrier of the block that counts the threads with a predicate.
MU_FN mu_u32 mu_bar_count(mu_u32 predicate) {
  mu_u32 result;
  MU_ASM volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p;}" : "=r"(result) : "r"(
      predicate) : "memory");
  return result;
}

// Barrier of a hardware cluster, by all threads of all its blocks.
#if MU_HAS_CLUSTER
#define MU_CLUSTER_BARRIER(name, ptx)                                  \
  MU_FN void mu_cluster_##name(void) {                                 \
    MU_ASM volatile("barrier.cluster." ptx ".aligned;" :: : "memory"); \
  }
MU_CLUSTER_BARRIER(arrive, "arrive.release")
MU_CLUSTER_BARRIER(arrive_relaxed, "arrive.relaxed")
MU_CLUSTER_BARRIER(wait, "wait.acquire")
#endif

// Clocks: cycles of this multiprocessor, nanoseconds of the whole device (in steps of up to 1 us).
MU_FN mu_u32 mu_cycles(void) {
  mu_u32 value;
  MU_ASM volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
}
MU_FN mu_u64 mu_time_ns(void) {
  mu_u64 value;
  MU_ASM volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

// Rest for about that long, at most 1 ms: lets others of the multiprocessor go first.
MU_FN void mu_rest_ns(mu_u32 time_ns) {
#if MU_HAS_NANOSLEEP
  MU_ASM volatile("nanosleep.u32 %0;" ::"r"(time_ns) : "memory");
#else
  mu_u64 start = mu_time_ns();
  while (mu_time_ns() - start < time_ns) {
  }
#endif
}

// Places in one number; x runs fastest.
MU_FN mu_u32 mu_thread(void) {
  return mu_thread_x() + mu_block_threads_x() * (mu_thread_y() + mu_block_threads_y() * mu_thread_z());
}
MU_FN mu_u32 mu_block_threads(void) {
  return mu_block_threads_x() * mu_block_threads_y() * mu_block_threads_z();
}
MU_FN mu_u32 mu_warp(void) {
  return mu_thread() / 32;
}
MU_FN mu_u32 mu_block_warps(void) {
  return (mu_block_threads() + 31) / 32;
}
MU_FN mu_u32 mu_block(void) {
  return mu_block_x() + mu_grid_blocks_x() * (mu_block_y() + mu_grid_blocks_y() * mu_block_z());
}
MU_FN mu_u32 mu_grid_blocks(void) {
  return mu_grid_blocks_x() * mu_grid_blocks_y() * mu_grid_blocks_z();
}
// In the whole grid; 64 bits, for grids of more than 2^32 threads.
#define MU_GRID_PLACE(d)                                                      \
  MU_FN mu_u64 mu_grid_thread_##d(void) {                                     \
    return (mu_u64)mu_block_##d() * mu_block_threads_##d() + mu_thread_##d(); \
  }                                                                           \
  MU_FN mu_u64 mu_grid_threads_##d(void) {                                    \
    return (mu_u64)mu_grid_blocks_##d() * mu_block_threads_##d();             \
  }
MU_GRID_PLACE(x)
MU_GRID_PLACE(y)
MU_GRID_PLACE(z)
// In the whole grid, all dimensions in one number.
MU_FN mu_u64 mu_grid_thread(void) {
  return (mu_u64)mu_block() * mu_block_threads() + mu_thread();
}
MU_FN mu_u64 mu_grid_threads(void) {
  return (mu_u64)mu_grid_blocks() * mu_block_threads();
}

// Loops in which the grid's threads share the elements, any number of them, neighbours to neighbours:
//   MU_FOR_GRID(i, n) y[i] = x[i];
//   MU_FOR_GRID_2(x, y, width, height) ...      MU_FOR_GRID_3(x, y, z, width, height, depth) ...
#define MU_FOR_GRID(i, n) \
  for (mu_u64 i = mu_grid_thread(), i##_end = (n); i < i##_end; i += mu_grid_threads())
#define MU_FOR_GRID_D(i, d, n) \
  for (mu_u64 i = mu_grid_thread_##d(), i##_end = (n); i < i##_end; i += mu_grid_threads_##d())
#define MU_FOR_GRID_2(x, y, nx, ny) MU_FOR_GRID_D(y, y, ny) MU_FOR_GRID_D(x, x, nx)
#define MU_FOR_GRID_3(x, y, z, nx, ny, nz) \
  MU_FOR_GRID_D(z, z, nz) MU_FOR_GRID_D(y, y, ny) MU_FOR_GRID_D(x, x, nx)
// The same by the threads of one block: MU_FOR_BLOCK(i, n).
#define MU_FOR_BLOCK(i, n) for (mu_u32 i = mu_thread(), i##_end = (n); i < i##_end; i += mu_block_threads())

#endif
#endif
