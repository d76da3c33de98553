/* graph.h: what streams and events need to know of stream capture. */
#ifndef MUSTER_GRAPH_H
#define MUSTER_GRAPH_H

#include "driver/drv.h"

/* The operation becomes a node of the graph that the stream captures. Takes it over whatever the result. */
CUresult drv_capture_add(drv_stream *s, drv_op *op);
CUresult drv_capture_record(drv_stream *s, drv_event *e, bool external);
CUresult drv_capture_wait(drv_stream *s, drv_event *e, bool external);
/* A function that no capture can hold was called: the capture is spoiled. Returns the error. */
CUresult drv_capture_invalid(drv_stream *s);
/* The same for a function that waits for, or works on, all of a context: an error while any stream that the calling
 * thread's mode protects is capturing. */
CUresult drv_capture_forbids(void);
bool drv_capture_has_event(const drv_event *e);
void drv_capture_forget_event(drv_event *e);
void drv_capture_drop(drv_stream *s);

#endif
