/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <sys/stat.h>

/* The second wall: what the mounts refuse is refused once more by an object of its own. The kernel's header may be older than the
 * kernel, so what is used of the interface stands here (landlock(7), the table of ABI versions). */
#define RIGHT_EXECUTE (1ULL << 0)
#define RIGHT_WRITE_FILE (1ULL << 1)
#define RIGHT_READ_FILE (1ULL << 2)
#define RIGHT_READ_DIR (1ULL << 3)
#define RIGHT_REMOVE_DIR (1ULL << 4)
#define RIGHT_REMOVE_FILE (1ULL << 5)
#define RIGHT_MAKE_CHAR (1ULL << 6)
#define RIGHT_MAKE_DIR (1ULL << 7)
#define RIGHT_MAKE_REG (1ULL << 8)
#define RIGHT_MAKE_SOCK (1ULL << 9)
#define RIGHT_MAKE_FIFO (1ULL << 10)
#define RIGHT_MAKE_BLOCK (1ULL << 11)
#define RIGHT_MAKE_SYM (1ULL << 12)
#define RIGHT_REFER (1ULL << 13)     /* ABI 2 */
#define RIGHT_TRUNCATE (1ULL << 14)  /* ABI 3 */
#define RIGHT_IOCTL_DEV (1ULL << 15) /* ABI 5 */

#define RIGHTS_READ (RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR)
#define RIGHTS_WRITE                                                                                                   \
  (RIGHTS_READ | RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_REMOVE_DIR | RIGHT_REMOVE_FILE | RIGHT_MAKE_DIR             \
   | RIGHT_MAKE_REG | RIGHT_MAKE_SOCK | RIGHT_MAKE_FIFO | RIGHT_MAKE_SYM | RIGHT_REFER)
#define RIGHTS_DEVICE (RIGHT_READ_FILE | RIGHT_WRITE_FILE | RIGHT_TRUNCATE)
#define RIGHTS_OF_FILES (RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV)

#define SCOPE_ABSTRACT_UNIX (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL (1ULL << 1)

#define RULE_PATH_BENEATH 1
#define CREATE_VERSION 1u

typedef struct {
  uint64_t fs, net, scoped;
} Ruleset;

typedef struct {
  uint64_t allowed;
  int32_t parent;
} __attribute__ ((packed)) PathBeneath;

/* /dev/random is the witness: its mount is writable and its mode too, only this wall refuses to write it. */
static const struct {
  const char *path;
  uint64_t rights;
} places[] = {
  { "/", RIGHTS_READ },
  { "/tmp", RIGHTS_WRITE },
  { "/var/tmp", RIGHTS_WRITE },
  { "/dev/shm", RIGHTS_WRITE },
  { "/proc", RIGHTS_READ | RIGHT_WRITE_FILE | RIGHT_TRUNCATE },
  { "/dev/null", RIGHTS_DEVICE },
  { "/dev/zero", RIGHTS_DEVICE },
  { "/dev/full", RIGHTS_DEVICE },
  { "/dev/urandom", RIGHTS_DEVICE },
  { "/dev/tty", RIGHTS_DEVICE | RIGHT_IOCTL_DEV },
  { "/dev/pts", RIGHTS_DEVICE | RIGHT_READ_DIR | RIGHT_IOCTL_DEV },
};
#define WITNESS "/dev/random"

/* ABI 1 refuses every rename from one directory to another, whatever the rules say: with it nothing works, so it counts as none. */
int
glove_launch_landlock_abi (void)
{
  long abi = syscall (SYS_landlock_create_ruleset, NULL, (size_t) 0, CREATE_VERSION);

  if (abi < 2)
    return 0;
  return abi > 7 ? 7 : (int) abi;
}

static uint64_t
handled_rights (int abi)
{
  uint64_t rights = (RIGHT_REFER << 1) - 1;

  if (abi >= 3)
    rights |= RIGHT_TRUNCATE;
  if (abi >= 5)
    rights |= RIGHT_IOCTL_DEV;
  return rights;
}

static void
allow (int ruleset, int parent, uint64_t rights, uint32_t index)
{
  PathBeneath rule = { .allowed = rights, .parent = parent };
  struct stat st;

  if (parent < 0 || fstat (parent, &st) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LANDLOCK, index);
  if (!S_ISDIR (st.st_mode))
    rule.allowed &= RIGHTS_OF_FILES;
  if (rule.allowed != 0
      && syscall (SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0u) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LANDLOCK, index);
}

static void
allow_path (int ruleset, const char *path, uint64_t rights, uint32_t index)
{
  int place = open (path, O_PATH | O_CLOEXEC);

  allow (ruleset, place, rights, index);
  close (place);
}

static void
verify (void)
{
  int witness = open (WITNESS, O_WRONLY | O_NOCTTY | O_CLOEXEC);

  if (witness >= 0)
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_LANDLOCK, ENOTRECOVERABLE, GLOVE_LAUNCH_NO_INDEX);
  if (errno != EACCES)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LANDLOCK, GLOVE_LAUNCH_NO_INDEX);
}

void
glove_launch_landlock_restrict (const GloveLaunchSandbox *self)
{
  uint64_t handled = handled_rights (self->landlock_abi);
  Ruleset attr = { .fs = handled };
  size_t size = self->landlock_abi >= 6 ? sizeof attr : sizeof attr.fs;
  int ruleset;

  if (self->landlock_abi == 0)
    return;
  if (self->landlock_abi >= 6)
    attr.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
  ruleset = (int) syscall (SYS_landlock_create_ruleset, &attr, size, 0u);
  if (ruleset < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LANDLOCK, GLOVE_LAUNCH_NO_INDEX);
  for (uint32_t i = 0; i < sizeof places / sizeof *places; i++)
    allow_path (ruleset, places[i].path, places[i].rights & handled, i);
  allow_path (ruleset, self->order->home, RIGHTS_WRITE & handled, 50);
  for (uint32_t i = 0; i < self->order->n_grants; i++)
    if (self->trees[i] >= 0)
      allow (ruleset, self->trees[i], RIGHTS_WRITE & handled, 100 + i);
  if (syscall (SYS_landlock_restrict_self, ruleset, 0u) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LANDLOCK, GLOVE_LAUNCH_NO_INDEX);
  close (ruleset);
  verify ();
}
