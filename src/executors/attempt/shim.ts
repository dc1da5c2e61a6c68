/**
 * The parent of every run: a few lines of POSIX shell, because a Node process in its place would cost 40 MB and 90 ms.
 *
 * Called as `sh -c SHIM memrl-shim ATTEMPT_DIRECTORY CGROUP PLACE INPUT COMMAND [ARGUMENTS…]`, as the leader of its own session.
 *
 * - It first creates `pid`, which must not exist yet. The creator of that file owns the attempt, so an attempt can begin only once:
 *   if the file exists, or cannot be written, the shim exits with 75 and the command never runs. Its line identifies the process and
 *   its place (see `claim-text.ts`).
 * - Before that it enters the cgroup, if one is given (else it is empty) and lets it in; the line then ends in its path.
 * - Signals are caught, not ignored, so that the command gets the default dispositions back and the shim outlives it.
 * - The command is executed by a subshell, never run by the shell itself, which would take `cd` or `exit` for its own.
 *   No variable of the user's environment has the name of a variable here.
 * - INPUT is `lines` if the command reads typed lines (else it is empty). Its standard input is then a pipe, `stdin`, which the
 *   command itself has open for reading and writing: reading waits for the next line and never finds an end, whoever dies. If the
 *   disk has no pipes, the log has the reason, and the standard input is as empty as without INPUT.
 * - Only the shell knows some facts about the end, and prints them to its stderr: `Killed`, or that it cannot fork. So its
 *   stderr is `pid`, after the first line, and the command gets the log, which the shell keeps as descriptor 3. bash says
 *   it only when it does not try to be another shell.
 * - A SIGTERM is noted in `pid` before `exit` is written: whoever finds the code knows whether the command ended by itself.
 * - `exit` gets the code and a newline. No newline: not finished. Its time is the time of the end. A disk that is full has
 *   room left in the last block of `pid`, so the code is noted there; so it is where somebody has put something else in the
 *   place of `exit`, as to open a pipe would wait for its reader; and where a link leads to another directory than the one that
 *   was given, without links, and is not the shim's own, moved: that may be another run's.
 * - A shell that cannot fork ends without a code: it notes that the command was not run and leaves with 76.
 */
export const SHIM = `memrl_d=$1; memrl_c=$2; memrl_p=$3; memrl_i=$4; memrl_rc=; shift 4
trap : HUP TERM INT QUIT USR1 USR2
set -C
if read -r memrl_s 2>/dev/null < /proc/$$/stat; then
  read -r memrl_b < /proc/sys/kernel/random/boot_id; memrl_s="$memrl_s $memrl_b"
else
  memrl_s="$$ lstart $(LC_ALL=C ps -o lstart= -p $$)"
fi
memrl_s="$memrl_s at $memrl_p"
if [ "$memrl_c" ] && { echo 0 >| "$memrl_c/cgroup.procs"; } 2>/dev/null; then memrl_s="$memrl_s cgroup $memrl_c"; fi
{ echo "$memrl_s" > "$memrl_d/pid"; } 2>/dev/null || exit 75
trap '[ "$memrl_rc" ] || { { echo "not run" >> "$memrl_d/pid"; } 2>/dev/null; exit 76; }' 0
case \${BASH_VERSION-} in ?*) command set +o posix 2>/dev/null;; esac
exec 3>&2 2>>"$memrl_d/pid"
trap 'echo "got SIGTERM" >&2' TERM
[ ! "$memrl_i" ] || command -p mkfifo -m 600 "$memrl_d/stdin" 2>&3 || memrl_i=
(if [ "$memrl_i" ]; then exec <> "$memrl_d/stdin"; fi; exec "$@") 2>&3 3>&-
memrl_rc=$?
{ cd -P "$memrl_d" && { [ "$PWD" = "$memrl_d" ] || [ pid -ef /dev/fd/4 ]; } && [ ! -e exit ] && echo "$memrl_rc" > exit; } 4>&2 2>/dev/null || echo "exit $memrl_rc" >&2
exit "$memrl_rc"`;

/** Exit code of the shim when it could not claim the attempt. */
export const NOT_OURS = 75;

/** Exit code of the shim when no process could be created for its command. */
export const NOT_RUN = 76;
