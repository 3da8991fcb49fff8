/*
 * An intrusive, circular, doubly linked list.  The head is a node that belongs to nobody; a node
 * that is on no list points to itself.  Nothing is allocated, so nothing can fail.
 *
 *     struct sc_list queue;                     struct job { struct sc_list link; ... };
 *     sc_list_init(&queue);                     sc_list_add_tail(&queue, &job->link);
 *     struct job *first = SC_CONTAINER(queue.next, struct job, link);
 */
#ifndef SC_LIST_H
#define SC_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct sc_list {
        struct sc_list *next, *prev;
};

#define SC_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

static inline void sc_list_init(struct sc_list *node)
{
        node->next = node->prev = node;
}

static inline bool sc_list_empty(const struct sc_list *node)
{
        return node->next == node;
}

static inline void sc_list_add_after(struct sc_list *at, struct sc_list *node)
{
        node->prev     = at;
        node->next     = at->next;
        at->next->prev = node;
        at->next       = node;
}

static inline void sc_list_add_tail(struct sc_list *head, struct sc_list *node)
{
        sc_list_add_after(head->prev, node);
}

static inline void sc_list_add_head(struct sc_list *head, struct sc_list *node)
{
        sc_list_add_after(head, node);
}

/* Off whatever list it is on; harmless when on none. */
static inline void sc_list_remove(struct sc_list *node)
{
        node->prev->next = node->next;
        node->next->prev = node->prev;
        sc_list_init(node);
}

/* The first node taken off, or NULL. */
static inline struct sc_list *sc_list_take(struct sc_list *head)
{
        struct sc_list *node = head->next;
        if (node == head)
                return NULL;
        sc_list_remove(node);
        return node;
}

/* Everything of `from` goes to the tail of `to`; `from` is empty afterwards. */
static inline void sc_list_splice(struct sc_list *to, struct sc_list *from)
{
        if (sc_list_empty(from))
                return;
        from->next->prev = to->prev;
        to->prev->next   = from->next;
        from->prev->next = to;
        to->prev         = from->prev;
        sc_list_init(from);
}

#endif
