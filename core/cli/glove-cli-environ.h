/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Fills a standard stream that is closed with the null device, so that no file of ours takes its number and gets what is printed; and
 * lets a write to a reader that went away, or past a limit on file sizes, be an error of the write, not the end without a record. First
 * of all. */
void glove_cli_environ_settle (void);
/* Takes every variable out of the environment that would choose code for this process (architecture §3), and executes the program once
 * more when one of them has had its effect before main (). To be called before the first GLib call. */
void glove_cli_environ_scrub (char **argv);
