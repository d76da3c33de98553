/* preload.c: stands in for the preloaded library of the runtime where only its presence counts. */
extern int cli_preload;
int cli_preload;
