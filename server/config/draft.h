/* Settings in the making: what each layer offers for each option, and all that is wrong with it. */
#ifndef CONFIG_DRAFT_H
#define CONFIG_DRAFT_H

#include "config/env.h"
#include "config/options.h"
#include "config/problems.h"
#include "config/settings.h"

enum layer { LAYER_FLAG, LAYER_ENVIRONMENT, LAYER_DOTENV, LAYER_FILE, LAYER_COUNT };

struct offer {
    const char *origin; /* NULL: the layer is silent about this option */
    struct value value;
};

struct draft {
    struct settings *settings; /* its arena holds everything below */
    struct problems problems;
    struct env env;        /* of DIR/.env */
    const char *file_name; /* of the config file, as messages call it */
    struct offer offers[LAYER_COUNT][OPTION_COUNT];
    size_t warning_capacity;
    bool auto_mount_given;
    int first_private_line; /* of a route; 0: all are public */
};

void draft_init(struct draft *draft);

/* Checks text at once, so that a bad value is told even where a higher layer wins. subject begins the
   message. A later offer of the same layer replaces an earlier one. */
void draft_offer(struct draft *draft, enum layer layer, const struct option *option, const char *text,
                 const char *base, const char *origin, const char *subject);

/* Of the highest layer that has one, or NULL. */
const struct offer *draft_best(const struct draft *draft, enum option_id id);

/* Something is wrong in that line of the config file. */
void draft_complain(struct draft *draft, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void draft_warn(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The variable's value in the environment or else in .env; NULL when unset or empty in both. */
const char *draft_variable(const struct draft *draft, const char *name);

/* Puts the best offers and the defaults into the settings, and hands them over, or tells why not (as
   settings_load). The draft is done with either way. */
int draft_finish(struct draft *draft, struct settings **ret_settings, char **ret_error);

#endif
