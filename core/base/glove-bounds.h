/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Every maximum that a peer, a file or an operator can run into has its name here, and is checked before anything is
 * allocated. docs/limits.md lists them for people. */

/* identifiers (contracts §0) */
#define GLOVE_ID_MAX 128
#define GLOVE_SESSION_ID_MAX 64
#define GLOVE_RUNTIME_ID_MAX 64
#define GLOVE_ALIAS_MAX 128
#define GLOVE_ENV_NAME_MAX 256

/* launch */
#define GLOVE_ARGV_MAX 4096               /* elements of an argv */
#define GLOVE_ARG_BYTES_MAX (128 * 1024)  /* bytes of one element, as the kernel's MAX_ARG_STRLEN */
#define GLOVE_ARGS_TOTAL_MAX (1024 * 1024) /* bytes of argv and environment together */
#define GLOVE_ENV_MAX 1024
#define GLOVE_PATH_BYTES_MAX 4095
#define GLOVE_GRANTS_MAX 512
#define GLOVE_MASKS_MAX 4096              /* sockets covered by --mask-sockets */
#define GLOVE_HOME_FILES_MAX 256
#define GLOVE_HOME_BYTES_MAX (16 * 1024 * 1024)
#define GLOVE_LISTENERS_MAX 64            /* the proxy and every --forward */
#define GLOVE_SPEC_BYTES_MAX (32 * 1024 * 1024)

/* egress (contracts §13) */
#define GLOVE_EGRESS_RULES_MAX 128
#define GLOVE_EGRESS_REQUEST_MAX 8192
#define GLOVE_EGRESS_HOST_MAX 253
#define GLOVE_EGRESS_CONNECTIONS_MAX 256
#define GLOVE_EGRESS_HANDSHAKE_SECONDS 30
#define GLOVE_EGRESS_CONNECT_SECONDS 30
#define GLOVE_EGRESS_RESOLVED_MAX 16      /* addresses tried for one name */

/* audit */
#define GLOVE_AUDIT_LINE_MAX (64 * 1024)
#define GLOVE_AUDIT_ARGUMENTS_MAX (32 * 1024) /* of one event, as written in its line */
#define GLOVE_AUDIT_TEXT_MAX (4 * 1024)       /* each other text of one event, as written in its line */
#define GLOVE_AUDIT_FILE_MAX (256 * 1024 * 1024)
#define GLOVE_AUDIT_RUNS_KEPT 50
#define GLOVE_AUDIT_RATE_PER_SECOND 100
#define GLOVE_AUDIT_EVENTS_PER_SESSION 100000
#define GLOVE_AUDIT_DENIALS_BUDGET 1000000 /* past this, the session is stopped */

/* catalog */
#define GLOVE_CATALOG_FILE_MAX (64 * 1024)
#define GLOVE_CATALOG_FILES_MAX 256
#define GLOVE_CATALOG_PROVIDES_MAX 32
#define GLOVE_CATALOG_SETTINGS_MAX 128
#define GLOVE_MODULE_BYTES_MAX (64 * 1024 * 1024)

/* json */
#define GLOVE_JSON_BYTES_MAX (64 * 1024 * 1024)
#define GLOVE_JSON_DEPTH_MAX 32
#define GLOVE_JSON_VALUES_MAX (1024 * 1024) /* of one text: a tree takes many times the bytes it is read from */

/* prompts and agents */
#define GLOVE_MODEL_NAME_MAX 256
#define GLOVE_PROMPT_BYTES_MAX (128 * 1024 - 1)
