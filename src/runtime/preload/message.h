/* message.h: the preloaded library's own way to say something; it is linked with nothing of the device. */
#ifndef MUSTER_RUNTIME_MESSAGE_H
#define MUSTER_RUNTIME_MESSAGE_H

#include "driver/session.h"

/* One packet to the parent as session.h describes it, or without a parent one line on standard error. */
void preload_say(muster_message kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
