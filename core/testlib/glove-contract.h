/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/*
 * The contract suites: they prove that an implementation keeps what the interface's documentation says. Between g_test_init () and
 * g_test_run (), one call registers the test cases for one object, under /contract/KIND/ID/…; the object is referenced until the
 * program ends. Link with libglove-test-1 (pkg-config glove-test-1).
 */

/**
 * glove_contract_check_runtime_adapter:
 * @adapter: the object to judge
 *
 * Ids and lists are constants of the right grammar; the home is complete, sorted, private, the same each time, and made without the
 * host's home, without opening anything; provider, model and prompt reach it, and can't break out of a file's grammar.
 *
 * Since: 1.0
 */
GLOVE_AVAILABLE_IN_1_0 void glove_contract_check_runtime_adapter (GloveRuntimeAdapter *adapter);

/**
 * glove_contract_check_channel_schema:
 * @schema: the object to judge
 *
 * Ids, runtimes, transport and bounds; a body's verdict is the same whatever was judged before, on any thread, and an error explains
 * each refusal.
 *
 * Since: 1.0
 */
GLOVE_AVAILABLE_IN_1_0 void glove_contract_check_channel_schema (GloveChannelSchema *schema);

/**
 * glove_contract_check_sandbox_backend:
 * @backend: the object to judge
 *
 * Probe and limit mechanisms explain themselves; launches report exit status, signal, output, environment and the reasons why a
 * program can't be started; stopping works at any moment, and nothing stays open. Where the probe says that something is missing,
 * the launches are skipped by its name.
 *
 * Since: 1.0
 */
GLOVE_AVAILABLE_IN_1_0 void glove_contract_check_sandbox_backend (GloveSandboxBackend *backend);

/**
 * glove_contract_check_audit_sink:
 * @sink: the object to judge; not opened yet
 *
 * Opens the sink in a directory of its own; records, in groups and in any bytes, leave the events alone, keep their order, and leak
 * nothing.
 *
 * Since: 1.0
 */
GLOVE_AVAILABLE_IN_1_0 void glove_contract_check_audit_sink (GloveAuditSink *sink);

G_END_DECLS
