/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies from shared objects. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/policies/policy.h"

const struct policy_ops *policy_open_shared(const char *path, char *error, size_t error_size)
{
    typedef const struct policy_ops *(*entry)(void);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(error, error_size, "could not open policy '%s': %s", path, dlerror());
        return NULL;
    }
    void *symbol = dlsym(handle, "fleetsim_policy");
    if (symbol == NULL) {
        snprintf(error, error_size, "policy '%s' does not export fleetsim_policy", path);
        dlclose(handle);
        return NULL;
    }
    entry get;
    memcpy(&get, &symbol, sizeof get); /* ISO C has no cast between the two kinds of pointer */
    const struct policy_ops *ops = get();
    if (ops == NULL || ops->abi != POLICY_ABI || ops->size < offsetof(struct policy_ops, head)) {
        snprintf(error, error_size, "policy '%s' was built for version %u of the interface, not %u",
                 path, ops != NULL ? ops->abi : 0, POLICY_ABI);
        dlclose(handle);
        return NULL;
    }
    return ops;
}
