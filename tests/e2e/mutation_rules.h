/* Why another server does something else with the same bytes than we do. */
#ifndef E2E_MUTATION_RULES_H
#define E2E_MUTATION_RULES_H

#include "mutations.h"

/* The reason for which a peer may do `theirs` with the mutation where we do what it expects, or NULL. */
const char *rule_find(const struct mutation *mutation, const char *peer, enum verdict theirs);

/* What was asked for and found, and how often. */
void rules_print(void);

#endif
