#include "app/context.h"

struct context context;
