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
#define GLOVE_AUDIT_FOLD_MAX 10000         /* denials that one counted event stands for before it is written */
#define GLOVE_AUDIT_QUEUE_MAX 4096         /* events that wait for the writer thread */
#define GLOVE_AUDIT_GROUP_MAX 256          /* events handed to a sink at once */
#define GLOVE_AUDIT_MEMORY_MAX 200000      /* events the memory sink holds */
#define GLOVE_AUDIT_RUNS_SCANNED 4096      /* entries of the runs folder looked at */

/* policy: what is looked at on the host before a start */
#define GLOVE_HOST_TABLE_BYTES_MAX (16 * 1024 * 1024) /* of the kernel's list of mounts or sockets */
#define GLOVE_HOST_MOUNTS_MAX 65536
#define GLOVE_HOST_SOCKETS_MAX 262144
#define GLOVE_GIT_SCAN_DEPTH 5             /* folders below a writable grant in which repositories are looked for */
#define GLOVE_GIT_SCAN_FOLDERS 4096
#define GLOVE_GIT_SCAN_ENTRIES 131072
#define GLOVE_GIT_SCAN_MS 1000
#define GLOVE_GIT_FILE_MAX 4096            /* bytes of a file that names a repository elsewhere */
#define GLOVE_GIT_CONFIG_MAX (1024 * 1024)

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
