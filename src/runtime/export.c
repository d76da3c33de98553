/* export.c: what a libcudart.so exports. Compiled once a major version (RT_MAJOR), for the rows that it has.
 *
 * Here, and nowhere else, an error is remembered for cudaGetLastError, and a name ending in _ptsz or _ptds
 * gets the calling thread's stream where the other has the default one.
 */
#include "runtime/rt.h"

#define RT_EXPORT __attribute__((visibility("default")))
#define RT_THREADS(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

#if RT_MAJOR == 11
#define RT_IF_11(...) __VA_ARGS__
#define RT_IF_12(...)
#define RT_IF_13(...)
#define RT_IF_11_12(...) __VA_ARGS__
#define RT_IF_12_13(...)
#elif RT_MAJOR == 12
#define RT_IF_11(...)
#define RT_IF_12(...) __VA_ARGS__
#define RT_IF_13(...)
#define RT_IF_11_12(...) __VA_ARGS__
#define RT_IF_12_13(...) __VA_ARGS__
#elif RT_MAJOR == 13
#define RT_IF_11(...)
#define RT_IF_12(...)
#define RT_IF_13(...) __VA_ARGS__
#define RT_IF_11_12(...)
#define RT_IF_12_13(...) __VA_ARGS__
#else
#error "RT_MAJOR is 11, 12 or 13"
#endif
#define RT_IF_ALL(...) __VA_ARGS__

#define API(majors, name, parameters, arguments) API_AS(majors, name, name, parameters, arguments)
#define API_AS(majors, name, as, parameters, arguments) \
  RT_IF_##majors(RT_EXPORT cudaError_t name parameters; \
                 cudaError_t name parameters { return rt_leave(#name, rt_##as arguments); })
#define STREAM(majors, name, parameters, arguments) STREAM_AS(majors, name, name, parameters, arguments)
#define STREAM_AS(majors, name, as, parameters, arguments)                                          \
  API_AS(majors, name, as, parameters, arguments)                                                   \
  RT_IF_##majors(RT_EXPORT cudaError_t name##_ptsz parameters; cudaError_t name##_ptsz parameters { \
    stream = RT_THREADS(stream);                                                                    \
    return rt_leave(#name, rt_##as arguments);                                                      \
  })
#define DEFAULT(majors, name, parameters, arguments)                                \
  RT_IF_##majors(                                                                   \
      RT_EXPORT cudaError_t name parameters; cudaError_t name parameters {          \
        return rt_leave(#name, rt_##name(RT_OPEN arguments, NULL));                 \
      } RT_EXPORT cudaError_t name##_ptds parameters;                               \
      cudaError_t name##_ptds parameters {                                          \
        return rt_leave(#name, rt_##name(RT_OPEN arguments, CU_STREAM_PER_THREAD)); \
      })
#define RAW(majors, type, name, parameters, arguments) \
  RT_IF_##majors(RT_EXPORT type name parameters; type name parameters { return rt_##name arguments; })
#define NO(majors, name)                           \
  RT_IF_##majors(RT_EXPORT cudaError_t name(void); \
                 cudaError_t name(void) { return rt_leave(#name, rt_refuse(#name)); })
#include "runtime/api.def"
