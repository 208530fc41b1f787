/* A library libcuda that is no driver: it has a version, and every call fails with one status. Both from the environment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

static int number(const char *name) { return atoi(getenv(name)); }

static int fail(void) { return number("STUB_STATUS"); }

int cuInit(unsigned flags) { return flags == 0 ? fail() : 1; }

int cuDriverGetVersion(int *version) {
    *version = number("STUB_VERSION");
    return 0;
}

int cuGetExportTable(const void **table, const void *id) {
    *table = id ? 0 : id;
    return fail();
}

int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, void *status) {
    *found = dlsym(RTLD_DEFAULT, name);
    if (!*found) *found = (void *)fail;
    if (status) *(int *)status = 0;
    return version > 0 && flags < 8 ? 0 : 1;
}

int cuGetProcAddress(const char *name, void **found, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, found, version, flags, 0);
}
