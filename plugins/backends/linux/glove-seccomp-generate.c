/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs on the build machine: turns glove-seccomp-calls.txt into one constant BPF program per architecture and purpose, as a C header.
 *
 *   glove-seccomp-generate CALLS HEADER
 *
 * A program is three parts, first to last: what it is asked by (a foreign architecture kills, an x32 number is ENOSYS), the calls whose
 * arguments decide (written out below, instruction by instruction, so that they can be read), and the two lists of names, which
 * libseccomp makes a binary tree of. */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define NO_FAMILY (SECCOMP_RET_ERRNO | EAFNOSUPPORT)
#define NO_TYPE (SECCOMP_RET_ERRNO | ESOCKTNOSUPPORT)
#define NO_PROTOCOL (SECCOMP_RET_ERRNO | EPROTONOSUPPORT)

#define PROGRAM_MAX 4096
#define NAMES_MAX 1024

/* Values of the guest's headers, the same on all four architectures. */
#define NEW_NAMESPACES 0x7e020000u /* CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET */
#define MODE_SETID 06000u
#define OPEN_MAKES_FILE (0100u | 020000000u) /* O_CREAT, __O_TMPFILE */
#define FAMILY_UNIX 1u
#define FAMILY_INET 2u
#define FAMILY_INET6 10u
#define FAMILY_NETLINK 16u

typedef struct {
  const char *name;
  uint32_t token; /* libseccomp's and the kernel's AUDIT_ARCH_*: the same number */
} Architecture;

static const Architecture architectures[] = {
  { "x86_64", SCMP_ARCH_X86_64 },
  { "aarch64", SCMP_ARCH_AARCH64 },
  { "i386", SCMP_ARCH_X86 },
  { "arm", SCMP_ARCH_ARM },
};

typedef enum { LIST_ALLOW, LIST_REFUSE, LIST_INIT, N_LISTS } List;

typedef struct {
  char *names[N_LISTS][NAMES_MAX];
  size_t count[N_LISTS];
} Calls;

typedef struct {
  struct sock_filter code[PROGRAM_MAX];
  size_t length;
} Program;

static _Noreturn void __attribute__ ((format (printf, 1, 2)))
die (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  fputs ("glove-seccomp-generate: ", stderr);
  vfprintf (stderr, format, arguments);
  fputc ('\n', stderr);
  va_end (arguments);
  exit (1);
}

static void
emit (Program *program, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t k)
{
  if (program->length == PROGRAM_MAX)
    die ("program too long");
  program->code[program->length++] = (struct sock_filter){ code, if_true, if_false, k };
}

static void
emit_load (Program *program, size_t offset)
{
  emit (program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t) offset);
}

/* The low half: the kernel looks at no more of an int, and compares that look at all 64 bits are passed by. */
static void
emit_load_argument (Program *program, unsigned index)
{
  emit_load (program, offsetof (struct seccomp_data, args) + 8 * index);
}

static void
emit_return (Program *program, uint32_t verdict)
{
  emit (program, BPF_RET | BPF_K, 0, 0, verdict);
}

static void
emit_mask (Program *program, uint32_t bits)
{
  emit (program, BPF_ALU | BPF_AND | BPF_K, 0, 0, bits);
}

/* When the loaded word equals @k, @verdict. */
static void
emit_if_equal (Program *program, uint32_t k, uint32_t verdict)
{
  emit (program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, k);
  emit_return (program, verdict);
}

/* When the loaded word has any of @bits, @verdict. */
static void
emit_if_any (Program *program, uint32_t bits, uint32_t verdict)
{
  emit (program, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
  emit_return (program, verdict);
}

/* For these two libseccomp gives the multiplexed form's pseudo number on i386, not the call's own. */
static int
number_of (const Architecture *architecture, const char *name)
{
  if (architecture->token == SCMP_ARCH_X86 && strcmp (name, "socket") == 0)
    return 359;
  if (architecture->token == SCMP_ARCH_X86 && strcmp (name, "socketpair") == 0)
    return 360;
  return seccomp_syscall_resolve_name_arch (architecture->token, name);
}

/* Joins @body behind a test for the call @name. The body decides: its last instruction returns. */
static void
append_call (Program *program, const Architecture *architecture, const char *name, const Program *body)
{
  int number = number_of (architecture, name);

  if (number < 0)
    return; /* not on this architecture */
  if (body->length > UINT8_MAX)
    die ("%s: too long", name);
  emit (program, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t) body->length, (uint32_t) number);
  for (size_t i = 0; i < body->length; i++)
    emit (program, body->code[i].code, body->code[i].jt, body->code[i].jf, body->code[i].k);
}

static void
append_clone (Program *program, const Architecture *architecture)
{
  Program body = { .length = 0 };

  emit_load_argument (&body, 0);
  emit_if_any (&body, NEW_NAMESPACES, REFUSE);
  emit_return (&body, ALLOW);
  append_call (program, architecture, "clone", &body);
}

/* No file with a set-id bit: on the host it would run as its owner. */
static void
append_modes (Program *program, const Architecture *architecture)
{
  static const struct {
    const char *name;
    unsigned argument;
  } calls[] = { { "chmod", 1 }, { "fchmod", 1 }, { "fchmodat", 2 }, { "mknod", 1 }, { "mknodat", 2 }, { "creat", 1 } };
  static const struct {
    const char *name;
    unsigned flags;
  } opens[] = { { "openat", 2 }, { "open", 1 } };

  for (size_t i = 0; i < sizeof opens / sizeof *opens; i++)
    {
      Program body = { .length = 0 };

      /* Without a file to make, the mode may be anything: whatever was in the register. */
      emit_load_argument (&body, opens[i].flags);
      emit (&body, BPF_JMP | BPF_JSET | BPF_K, 0, 3, OPEN_MAKES_FILE);
      emit_load_argument (&body, opens[i].flags + 1);
      emit_if_any (&body, MODE_SETID, REFUSE);
      emit_return (&body, ALLOW);
      append_call (program, architecture, opens[i].name, &body);
    }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      Program body = { .length = 0 };

      emit_load_argument (&body, calls[i].argument);
      emit_if_any (&body, MODE_SETID, REFUSE);
      emit_return (&body, ALLOW);
      append_call (program, architecture, calls[i].name, &body);
    }
}

/* Two file systems let whoever owns a folder in a subvolume make a snapshot of all of it, which some kernels do without looking whose the
 * rest is: of what they have, only sharing and comparing blocks. And keys of encrypted folders belong to the operator's session. */
static void
append_ioctl (Program *program, const Architecture *architecture)
{
  static const uint32_t refused[] = { 0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */, 0x541d /* TIOCCONS */, 0x5423 /* TIOCSETD */ };
  static const uint32_t shared[] = { 0x40049409 /* FICLONE */, 0x4020940d /* FICLONERANGE */, 0xc0189436 /* FIDEDUPERANGE */ };
  static const uint32_t keys[] = { 0x6613 /* FS_IOC_SET_ENCRYPTION_POLICY */, 0x6617 /* FS_IOC_ADD_ENCRYPTION_KEY */,
                                   0x6618 /* FS_IOC_REMOVE_ENCRYPTION_KEY */, 0x6619 /* … of all users */ };
  Program body = { .length = 0 };

  emit_load_argument (&body, 1);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    emit_if_equal (&body, refused[i], REFUSE);
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    emit_if_equal (&body, shared[i], ALLOW);
  emit_mask (&body, 0xff00);
  emit_if_equal (&body, 0x9400 /* btrfs */, REFUSE);
  emit_if_equal (&body, 0xbc00 /* bcachefs */, REFUSE);
  emit_load_argument (&body, 1);
  emit_mask (&body, 0xffff);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    emit_if_equal (&body, keys[i], REFUSE);
  emit_return (&body, ALLOW);
  append_call (program, architecture, "ioctl", &body);
}

/* A lease, or a delegation of a folder, holds up whoever opens the operator's own files, for 45 s and again; notices of a folder this
 * way have no quota. */
static void
append_fcntl (Program *program, const Architecture *architecture)
{
  static const char *const names[] = { "fcntl", "fcntl64" };
  static const uint32_t refused[] = { 1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */, 1040 /* F_SETDELEG */ };

  for (size_t n = 0; n < sizeof names / sizeof *names; n++)
    {
      Program body = { .length = 0 };

      emit_load_argument (&body, 1);
      for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        emit_if_equal (&body, refused[i], REFUSE);
      emit_return (&body, ALLOW);
      append_call (program, architecture, names[n], &body);
    }
}

/* A task with a core scheduling cookie of its own keeps the other threads of its core from everybody else. */
static void
append_prctl (Program *program, const Architecture *architecture)
{
  Program body = { .length = 0 };

  emit_load_argument (&body, 0);
  emit_if_equal (&body, 62 /* PR_SCHED_CORE */, REFUSE);
  emit_return (&body, ALLOW);
  append_call (program, architecture, "prctl", &body);
}

/* Other protocols than these make the kernel load a module for whoever asks. */
static void
append_internet (Program *make)
{
  static const uint32_t protocols[] = { 0, 1 /* ICMP */, 6 /* TCP */, 17 /* UDP */, 58 /* ICMPv6 */ };

  emit_load_argument (make, 1);
  emit_mask (make, 0xf);
  emit_if_equal (make, 3 /* SOCK_RAW: for the kernel to refuse, which loads nothing */, ALLOW);
  emit (make, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1 /* SOCK_STREAM */);
  emit (make, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 2 /* SOCK_DGRAM */);
  emit_return (make, NO_TYPE);
  emit_load_argument (make, 2);
  for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
    emit_if_equal (make, protocols[i], ALLOW);
  emit_return (make, NO_PROTOCOL);
}

static void
append_sockets (Program *program, const Architecture *architecture)
{
  Program make = { .length = 0 }, pair = { .length = 0 }, multiplexed = { .length = 0 };

  emit_load_argument (&make, 0);
  emit_if_equal (&make, FAMILY_UNIX, ALLOW);
  emit (&make, BPF_JMP | BPF_JEQ | BPF_K, 6, 0, FAMILY_INET);
  emit (&make, BPF_JMP | BPF_JEQ | BPF_K, 5, 0, FAMILY_INET6);
  emit (&make, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, FAMILY_NETLINK);
  emit_load_argument (&make, 2);
  emit_if_equal (&make, 0 /* NETLINK_ROUTE */, ALLOW);
  emit_return (&make, NO_FAMILY);
  append_internet (&make);
  append_call (program, architecture, "socket", &make);

  emit_load_argument (&pair, 0);
  emit_if_equal (&pair, FAMILY_UNIX, ALLOW);
  emit_return (&pair, NO_FAMILY);
  append_call (program, architecture, "socketpair", &pair);

  /* Here the family lies in memory, where a filter can't look: the two calls that take one have numbers of their own since Linux 4.3. */
  if (architecture->token != SCMP_ARCH_X86)
    return;
  emit_load_argument (&multiplexed, 0);
  emit_if_equal (&multiplexed, 1 /* SYS_SOCKET */, UNKNOWN);
  emit_if_equal (&multiplexed, 8 /* SYS_SOCKETPAIR */, UNKNOWN);
  emit_return (&multiplexed, ALLOW);
  append_call (program, architecture, "socketcall", &multiplexed);
}

static void
append_personality (Program *program, const Architecture *architecture)
{
  Program body = { .length = 0 };

  emit_load_argument (&body, 0);
  emit_if_equal (&body, 0 /* PER_LINUX */, ALLOW);
  emit_if_equal (&body, 8 /* PER_LINUX32 */, ALLOW);
  emit_if_equal (&body, 0xffffffff /* what is it? */, ALLOW);
  emit_return (&body, REFUSE);
  append_call (program, architecture, "personality", &body);
}

/* Calls that are younger than the oldest libseccomp we build with. Their numbers are the same everywhere. */
static void
append_young (Program *program)
{
  static const struct {
    uint32_t first, last, verdict;
  } ranges[] = {
    { 451, 451, ALLOW },  /* cachestat */
    { 454, 456, ALLOW },  /* futex_wake, futex_wait, futex_requeue */
    { 457, 458, REFUSE }, /* statmount, listmount */
    { 462, 462, ALLOW },  /* mseal */
    { 467, 467, REFUSE }, /* open_tree_attr */
  };

  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    for (uint32_t number = ranges[i].first; number <= ranges[i].last; number++)
      emit_if_equal (program, number, ranges[i].verdict);
}

static void
append_prologue (Program *program, const Architecture *architecture)
{
  emit_load (program, offsetof (struct seccomp_data, arch));
  emit (program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, architecture->token);
  emit_return (program, SECCOMP_RET_KILL_PROCESS);
  emit_load (program, offsetof (struct seccomp_data, nr));
  if (architecture->token == SCMP_ARCH_X86_64)
    {
      emit (program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
      emit_return (program, UNKNOWN);
    }
}

static void
add_names (scmp_filter_ctx filter, const Calls *calls, List list, uint32_t action)
{
  for (size_t i = 0; i < calls->count[list]; i++)
    {
      const char *name = calls->names[list][i];
      int number = seccomp_syscall_resolve_name (name), result;

      if (number == __NR_SCMP_ERROR)
        {
          fprintf (stderr, "glove-seccomp-generate: this libseccomp does not know %s, it will be ENOSYS\n", name);
          continue;
        }
      result = seccomp_rule_add (filter, action, number, 0);
      if (result < 0 && result != -EDOM)
        die ("%s: %s", name, strerror (-result));
    }
}

/* What libseccomp makes of the lists. It begins with loads of its own, so it can stand behind anything. */
static void
append_lists (Program *program, const Architecture *architecture, const Calls *calls, int for_init)
{
  scmp_filter_ctx filter = seccomp_init (SCMP_ACT_ERRNO (ENOSYS));
  struct sock_filter read_back[PROGRAM_MAX];
  int file = memfd_create ("program", MFD_CLOEXEC);
  ssize_t n;

  if (filter == NULL || file < 0)
    die ("out of memory");
  if (architecture->token != seccomp_arch_native ()
      && (seccomp_arch_add (filter, architecture->token) < 0 || seccomp_arch_remove (filter, SCMP_ARCH_NATIVE) < 0))
    die ("%s: not known here", architecture->name);
  if (seccomp_attr_set (filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0
      || seccomp_attr_set (filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
    die ("this libseccomp is too old");
  if (for_init)
    add_names (filter, calls, LIST_INIT, SCMP_ACT_ALLOW);
  else
    {
      add_names (filter, calls, LIST_ALLOW, SCMP_ACT_ALLOW);
      add_names (filter, calls, LIST_REFUSE, SCMP_ACT_ERRNO (EPERM));
    }
  if (seccomp_export_bpf (filter, file) < 0)
    die ("%s: export failed", architecture->name);
  n = pread (file, read_back, sizeof read_back, 0);
  if (n <= 0 || n == (ssize_t) sizeof read_back)
    die ("%s: unexpected size", architecture->name);
  for (size_t i = 0; i < (size_t) n / sizeof *read_back; i++)
    emit (program, read_back[i].code, read_back[i].jt, read_back[i].jf, read_back[i].k);
  close (file);
  seccomp_release (filter);
}

static void
print_program (FILE *out, const char *purpose, const Architecture *architecture, const Program *program)
{
  fprintf (out, "static const struct sock_filter glove_seccomp_%s_%s[] __attribute__ ((unused)) = {\n", purpose,
           architecture->name);
  for (size_t i = 0; i < program->length; i++)
    fprintf (out, "  { 0x%02x, %u, %u, 0x%08x },\n", (unsigned) program->code[i].code, (unsigned) program->code[i].jt,
             (unsigned) program->code[i].jf, (unsigned) program->code[i].k);
  fputs ("};\n", out);
}

static void
read_calls (Calls *calls, const char *path)
{
  static const char *const headings[N_LISTS] = { "[allow]", "[refuse]", "[init]" };
  FILE *in = fopen (path, "re");
  char line[1024];
  int list = -1;

  if (in == NULL)
    die ("%s: %s", path, strerror (errno));
  while (fgets (line, sizeof line, in) != NULL)
    {
      char *state = NULL;

      line[strcspn (line, "#\n")] = '\0';
      for (char *word = strtok_r (line, " \t", &state); word != NULL; word = strtok_r (NULL, " \t", &state))
        {
          if (*word == '[')
            {
              for (list = N_LISTS - 1; list >= 0 && strcmp (word, headings[list]) != 0; list--)
                ;
              if (list < 0)
                die ("%s: no such list: %s", path, word);
              continue;
            }
          if (list < 0 || calls->count[list] == NAMES_MAX || (word = strdup (word)) == NULL)
            die ("%s: a name outside of a list, or too many", path);
          calls->names[list][calls->count[list]++] = word;
        }
    }
  if (ferror (in) || fclose (in) != 0)
    die ("%s: %s", path, strerror (errno));
}

static void
write_header (const Calls *calls, const char *path)
{
  FILE *out = fopen (path, "we");

  if (out == NULL)
    die ("%s: %s", path, strerror (errno));
  fputs ("/* Made by glove-seccomp-generate. */\n\n#pragma once\n\n#include <linux/filter.h>\n", out);
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
    {
      Program agent = { .length = 0 }, init = { .length = 0 };

      append_prologue (&agent, &architectures[i]);
      append_modes (&agent, &architectures[i]);
      append_ioctl (&agent, &architectures[i]);
      append_fcntl (&agent, &architectures[i]);
      append_prctl (&agent, &architectures[i]);
      append_sockets (&agent, &architectures[i]);
      append_clone (&agent, &architectures[i]);
      append_personality (&agent, &architectures[i]);
      append_young (&agent);
      append_lists (&agent, &architectures[i], calls, 0);
      append_prologue (&init, &architectures[i]);
      append_lists (&init, &architectures[i], calls, 1);
      print_program (out, "agent", &architectures[i], &agent);
      print_program (out, "init", &architectures[i], &init);
    }
  if (ferror (out) || fclose (out) != 0)
    die ("%s: %s", path, strerror (errno));
}

int
main (int argc, char **argv)
{
  static Calls calls;

  if (argc != 3)
    die ("usage: glove-seccomp-generate CALLS HEADER");
  read_calls (&calls, argv[1]);
  write_header (&calls, argv[2]);
  for (List list = 0; list < N_LISTS; list++)
    for (size_t i = 0; i < calls.count[list]; i++)
      free (calls.names[list][i]);
  return 0;
}
