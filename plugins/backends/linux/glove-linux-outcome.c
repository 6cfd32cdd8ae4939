/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-outcome.h"

#include <signal.h>
#include <sys/wait.h>

#define NOT_COUNTED G_MAXUINT64

void
glove_linux_outcome_read_usage (GloveUsage *self, const GloveLaunchMessage *message, gint64 started_us, gint64 now_us)
{
  gboolean by_cgroup = message->arg[1] != 0;

  *self = (GloveUsage){ .cpu_time_ms = message->value[by_cgroup ? 0 : 5] / 1000,
                        .peak_memory_bytes = by_cgroup ? message->value[1] : NOT_COUNTED,
                        .peak_pids = by_cgroup ? message->value[2] : NOT_COUNTED,
                        .wall_time_ms = started_us > 0 ? (guint64) (now_us - started_us) / 1000 : 0,
                        .disk_bytes = NOT_COUNTED,
                        .output_bytes = NOT_COUNTED };
}

static void
set_unknown (GloveOutcome *self, const GloveLinuxEnd *end)
{
  self->cause = GLOVE_TERMINATION_SUPERVISOR_ERROR;
  self->signal = SIGKILL;
  self->usage = (GloveUsage){ .cpu_time_ms = NOT_COUNTED,
                              .peak_memory_bytes = NOT_COUNTED,
                              .peak_pids = NOT_COUNTED,
                              .wall_time_ms = end->started_us > 0 ? (guint64) (end->finished_us - end->started_us) / 1000 : 0,
                              .disk_bytes = NOT_COUNTED,
                              .output_bytes = NOT_COUNTED };
}

void
glove_linux_outcome_init (GloveOutcome *self, const GloveLinuxEnd *end)
{
  int status = (int) end->message.arg[0];
  gboolean by_cgroup = end->message.arg[1] != 0;

  *self = (GloveOutcome){ 0 };
  if (!end->counted)
    set_unknown (self, end);
  else
    {
      glove_linux_outcome_read_usage (&self->usage, &end->message, end->started_us, end->finished_us);
      if (WIFSIGNALED (status))
        self->signal = (guint8) WTERMSIG (status);
      if (by_cgroup)
        self->pid_limit_hits = end->message.value[4];
    }
  if (end->forced && !end->ended_before_force)
    self->cause = end->forced_cause;
  else if (end->counted && by_cgroup && end->message.value[3] > 0)
    {
      self->cause = GLOVE_TERMINATION_MEMORY_LIMIT;
      self->signal = SIGKILL;
    }
  else if (end->counted && WIFEXITED (status))
    {
      self->cause = GLOVE_TERMINATION_EXITED;
      self->exit_code = (guint8) WEXITSTATUS (status);
    }
  else if (end->counted && WIFSIGNALED (status))
    self->cause = GLOVE_TERMINATION_SIGNALED;
}

guint
glove_linux_outcome_get_budget_delay_ms (guint64 left_us, const GloveLimits *limits, guint n_processors)
{
  guint64 granted = limits->value[GLOVE_LIMIT_CPUS]; /* thousandths; 0: all */
  guint64 online = (guint64) MAX (n_processors, 1) * 1000;
  guint64 thousandths = granted == 0 ? online : MIN (granted, online);
  guint64 delay_ms;

  /* left / (1000 µs · thousandths / 1000), rounded up; a budget of more than 50 days is looked at again by then. */
  delay_ms = left_us > G_MAXUINT64 / 2 ? G_MAXUINT : (left_us + thousandths - 1) / thousandths;
  return (guint) CLAMP (delay_ms, 1, G_MAXUINT);
}
