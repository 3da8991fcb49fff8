/*
 * One record of the kind that FUZZ_KIND names (0: whatever the bytes say).  What is unpacked can be
 * packed again, and what that gives unpacks to the very same bytes.
 */
#include <string.h>

#include "codec.h"
#include "fuzz.h"
#include "sc_assert.h"
#include "sc_buf.h"
#include "sc_mem.h"

enum { HEAD_MAX = 2, INPUT_MAX = 1 << 16 };

/* [FUZZ_KIND, whatever the input says]. */
static size_t with_kind(const uint8_t *bytes, size_t len, uint8_t *out)
{
        size_t head = 0;
        if (FUZZ_KIND != 0) {
                out[head++] = 0x92;
                out[head++] = FUZZ_KIND;
        }
        memcpy(out + head, bytes, len);
        return head + len;
}

static void pack_again(struct sc_mem *mem, const struct sc_msg *msg)
{
        struct sc_buf         first, second;
        struct sc_codec_arena arena;
        struct sc_msg         back;
        const char           *why;
        size_t                cursor = 0;
        sc_buf_init(&first, mem, SC_FRAME_MAX);
        sc_buf_init(&second, mem, SC_FRAME_MAX);
        sc_codec_arena_init(&arena, mem);
        SC_ASSERT(sc_codec_pack(&first, msg) == 0);
        SC_ASSERT(sc_codec_unpack(first.data, first.len, &cursor, &arena, &back, &why) == 1);
        SC_ASSERT(cursor == first.len);
        SC_ASSERT(sc_codec_pack(&second, &back) == 0);
        SC_ASSERT(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
        sc_codec_arena_fini(&arena);
        sc_buf_fini(&second);
        sc_buf_fini(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
        struct sc_mem         mem;
        struct sc_codec_arena arena;
        struct sc_msg         msg;
        const char           *why    = NULL;
        size_t                cursor = 0;
        if (len > INPUT_MAX)
                return 0;
        sc_mem_init_libc(&mem);
        sc_codec_arena_init(&arena, &mem);
        uint8_t *record = sc_mem_alloc(&mem, HEAD_MAX + len);
        SC_ASSERT(record);
        const size_t whole  = with_kind(bytes, len, record);
        const int    status = sc_codec_unpack(record, whole, &cursor, &arena, &msg, &why);
        SC_ASSERT((status < 0) == (why != NULL));
        if (status == 1)
                pack_again(&mem, &msg);
        sc_mem_release(&mem, record, HEAD_MAX + len);
        sc_codec_arena_fini(&arena);
        SC_ASSERT(atomic_load(&mem.used) == 0);
        return 0;
}
