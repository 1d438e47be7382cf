/* Files of public/ that are not kept in memory: opened for each request. */
#ifndef HTTP_STATIC_DISK_H
#define HTTP_STATIC_DISK_H

#include "app/static_file.h"
#include "http/representation.h"

/* Opens the file as it is now, and fills in what it is served as; fd is the caller's. 0, or a negative errno
   when it is not there any more, or is no file below public/. */
int static_disk_open(struct request *request, const struct static_file *file,
                     struct representation *ret_representation);

#endif
