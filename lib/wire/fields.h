/*
 * The layout of every kind on the wire, as tables: key, name, type, where it lives in the message,
 * and its bounds.  Packing, unpacking and the tables of doc/protocol.md all follow these; a test
 * compares the page with them.
 */
#ifndef SC_FIELDS_H
#define SC_FIELDS_H

#include "msg.h"

enum sc_field_type {
        SC_FIELD_U8, /* numbers first ... */
        SC_FIELD_U32,
        SC_FIELD_U64,
        SC_FIELD_I32,
        SC_FIELD_BOOL,
        SC_FIELD_MAGIC, /* the text SC_MAGIC, in no struct */
        SC_FIELD_TEXT,  /* ... then a view, msgpack str */
        SC_FIELD_BYTES, /* a view, msgpack bin */
        SC_FIELD_NAMES, /* functions of a HELLO: array of str */
        SC_FIELD_HOLDS, /* holds of a HELLO: array of maps */
        SC_FIELD_BLOBS, /* results of a plan: array of bin */
        SC_FIELD_PLAN,  /* of a specification: a map; in the struct a pointer, NULL for none */
        SC_FIELD_TYPES
};

#define SC_MAGIC "scaler"

/* min and max bound an unsigned number up to 32 bits, the length of a view, or the elements of an array; of a U64
 * only min is looked at, an I32 lies within -max and max unless max is 0, of BOOL and PLAN neither counts.  min > 0
 * makes the field required, since what is left out is 0. */
struct sc_field {
        const char *name;
        uint32_t    min, max;
        uint16_t    offset; /* in struct sc_msg; in struct sc_hold or sc_plan for the fields of those */
        uint8_t     key;    /* ascending within a table */
        uint8_t     type;   /* enum sc_field_type */
};

struct sc_layout {
        const struct sc_field *fields; /* NULL: no such kind */
        uint16_t               size;   /* bytes of struct sc_msg that the kind uses */
        uint8_t                count;
        uint8_t                plain;  /* fields before a plan, which is the last one, or `count` */
        uint8_t                views;  /* index of the first field that is a view or an array, or `count` */
        uint64_t               required; /* bit set of keys, which are below 64 */
};

enum { SC_KIND_OPTIONAL = 128 }; /* from here on a stranger is skipped */

const struct sc_layout *sc_layout_of(uint64_t kind); /* NULL: unknown */
extern const struct sc_layout sc_layout_hold;        /* one hold of a HELLO */
extern const struct sc_layout sc_layout_plan;        /* the plan of a specification */

#endif
