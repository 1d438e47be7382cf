/* A thread that sees functions which keep an event loop from going on: it names them, and cuts them off when
   their time is over. */
#ifndef APP_WATCHDOG_H
#define APP_WATCHDOG_H

#define WATCHDOG_LOOK_MS 25  /* between two looks */
#define WATCHDOG_TELL_MS 100 /* a call that takes longer is told of */
#define WATCHDOG_PATIENCE 80 /* attempts to cut one off; then the process ends */

struct watchdog;

struct watchdog *watchdog_start(void); /* NULL: there is no thread to be had */
void watchdog_stop(struct watchdog *watchdog);

#endif
