/*
 * What a fuzz target is: the function libFuzzer calls.  The same file is linked with replay.c into a
 * plain program that gives it every seed of its corpus, as an ordinary test.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
