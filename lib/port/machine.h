/* What this process may use of the machine it runs on. */
#ifndef SC_MACHINE_H
#define SC_MACHINE_H

#include <stddef.h>
#include <stdint.h>

uint32_t sc_usable_cpus(void);     /* by affinity and cgroup quota (v2 or v1), at least 1 */
uint64_t sc_physical_memory(void); /* bytes, or the cgroup's limit when that is less; 1 GiB when nobody tells */
void     sc_machine_name(char *out, size_t size); /* "host:pid", for roles without a name */

#endif
