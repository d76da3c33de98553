/* link.h: units that are linked: cuLink*, and the order of a program's units. */
#ifndef MUSTER_LINK_H
#define MUSTER_LINK_H

#include "driver/drv.h"

/* Adds whatever an image holds that the device runs. */
CUresult drv_program_add(drv_device *d, drv_program *p, const void *image, size_t bytes, const char *name,
                         base_text *log);
/* Puts the units in an order in which each refers to earlier ones, as far as there is one. */
void drv_program_order(drv_program *p);
/* Reads what cuLinkComplete wrote. */
CUresult drv_link_open(drv_device *d, drv_program *p, const void *image, size_t bytes, base_text *log);

#endif
