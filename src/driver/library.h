/* library.h: code that belongs to no context until something of it is used in one. */
#ifndef MUSTER_LIBRARY_H
#define MUSTER_LIBRARY_H

#include "driver/drv.h"

/* A module of a library is going away. */
void drv_library_forget(drv_module *m);

#endif
