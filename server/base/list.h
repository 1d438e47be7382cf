/* A doubly linked list through a member of its items; the head is a link of its own. A zeroed link is
   unlinked. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

struct list {
    struct list *prev, *next;
};

#define list_item(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

#define list_for_each(link, head)                                                     \
    for (struct list *link = (head)->next, *link##_next = link->next; link != (head); \
         link = link##_next, link##_next = link->next)

static inline void list_init(struct list *head)
{
    head->prev = head->next = head;
}

static inline int list_empty(const struct list *head)
{
    return head->next == head;
}

static inline int list_linked(const struct list *link)
{
    return link->next != NULL;
}

static inline void list_append(struct list *head, struct list *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Harmless when link is in no list. */
static inline void list_remove(struct list *link)
{
    if (!list_linked(link))
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

#endif
