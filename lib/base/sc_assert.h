/*
 * Assertions that stay on in every build: a broken invariant stops the process at the line
 * that saw it, before it can answer wrongly.  They guard our own promises only; what a peer
 * or a caller does wrong is answered with a status, never with an assertion.
 */
#ifndef SC_ASSERT_H
#define SC_ASSERT_H

/* Writes "file:line: what" to descriptor 2 and aborts.  Never returns. */
_Noreturn void sc_assert_failed(const char *file, int line, const char *what);

#define SC_ASSERT(condition) \
        ((condition) ? (void)0 : sc_assert_failed(__FILE__, __LINE__, #condition))
#define SC_UNREACHABLE() sc_assert_failed(__FILE__, __LINE__, "unreachable")

#endif
