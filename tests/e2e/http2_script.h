/* What a client does on an HTTP/2 connection, as a line of text: commands separated by ';', each a letter and
   its words.

     H stream flags field...   HEADERS        flags: e END_STREAM, h END_HEADERS, - none
     C stream flags field...   CONTINUATION
     D stream flags text       DATA; "*N" is N bytes
     P stream on weight        PRIORITY
     R stream code             RST_STREAM
     S id=value...             SETTINGS
     G code                    GOAWAY
     I text                    PING
     W stream increment        WINDOW_UPDATE
     F type flags stream hex   any frame
     X hex                     bytes as they are
     wait closed | ack | data  until END_STREAM, an acknowledgement of SETTINGS, a DATA frame has come

   A field is name=value; get, post and head stand for the four fields of such a request, dummy and dummies
   for one large field and for more than fit in a frame, and #hex for bytes of HPACK. */
#ifndef E2E_HTTP2_SCRIPT_H
#define E2E_HTTP2_SCRIPT_H

#include "frames.h"

void http2_script_run(struct frames *frames, const char *script);

#endif
