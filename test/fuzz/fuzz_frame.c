/*
 * A stream of bytes as a receiver takes it: frame after frame, each header checked, each record of an
 * accepted frame unpacked.  A header that is accepted is written back to the same bytes.
 */
#include <string.h>

#include "codec.h"
#include "frame.h"
#include "fuzz.h"
#include "sc_assert.h"
#include "sc_mem.h"

static void take_records(const uint8_t *bytes, size_t len, uint16_t count)
{
        struct sc_mem         mem;
        struct sc_codec_arena arena;
        struct sc_msg         msg;
        const char           *why;
        size_t                cursor = 0;
        sc_mem_init_libc(&mem);
        sc_codec_arena_init(&arena, &mem);
        for (uint32_t i = 0; i < count; i++) {
                const size_t before = cursor;
                if (sc_codec_unpack(bytes, len, &cursor, &arena, &msg, &why) < 0)
                        break;
                SC_ASSERT(cursor > before && cursor <= len);
        }
        sc_codec_arena_fini(&arena);
        SC_ASSERT(atomic_load(&mem.used) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
        while (len >= SC_FRAME_HEAD) {
                struct sc_frame_head head;
                uint8_t              back[SC_FRAME_HEAD];
                const char          *why;
                if (sc_frame_get(bytes, &head, &why) != 0 || head.length > len)
                        return 0;
                SC_ASSERT(sc_frame_length(bytes, len) == head.length);
                sc_frame_put(&head, back);
                SC_ASSERT(memcmp(back, bytes, SC_FRAME_HEAD) == 0);
                take_records(bytes + SC_FRAME_HEAD, head.length - SC_FRAME_HEAD, head.count);
                bytes += head.length;
                len -= head.length;
        }
        return 0;
}
