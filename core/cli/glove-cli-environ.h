/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Takes every variable out of the environment that would choose code for this process (architecture §3), and executes the program once
 * more when one of them has had its effect before main (). To be called before the first GLib call. */
void glove_cli_environ_scrub (char **argv);
