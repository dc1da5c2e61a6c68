/**
 * The parent of every run: a few lines of POSIX shell, because a Node process in its place would cost 40 MB and 90 ms.
 *
 * Called as `sh -c SHIM memrl-shim ATTEMPT_DIRECTORY CGROUP COMMAND [ARGUMENTS…]`, as the leader of its own session.
 *
 * - It first creates `pid`, which must not exist yet. Whoever creates that file owns the attempt, so an attempt can be
 *   begun once only: if the file is there, or cannot be written, the shim leaves with 75 and the command never runs.
 *   Its line identifies the process: `/proc/PID/stat` and the boot id; without /proc (macOS) `PID lstart TIME`.
 * - Before that it enters the cgroup, if one is given (else it is empty) and lets it in; the line then ends in its path.
 * - Signals are caught, not ignored, so that the command gets the default dispositions back and the shim outlives it.
 * - `exit` gets the code and a newline. No newline: not finished. Its time is the time of the end. A disk that is full has
 *   room left in the last block of `pid`, so the code is noted there.
 */
export const SHIM = `d=$1; c=$2; shift 2
trap : HUP TERM INT QUIT USR1 USR2
set -C
if read -r s 2>/dev/null < /proc/$$/stat; then
  read -r b < /proc/sys/kernel/random/boot_id; s="$s $b"
else
  s="$$ lstart $(LC_ALL=C ps -o lstart= -p $$)"
fi
if [ "$c" ] && { echo 0 >| "$c/cgroup.procs"; } 2>/dev/null; then s="$s cgroup $c"; fi
{ echo "$s" > "$d/pid"; } 2>/dev/null || exit 75
"$@"; rc=$?
{ echo "$rc" > "$d/exit"; } 2>/dev/null || { echo "exit $rc" >> "$d/pid"; } 2>/dev/null
exit "$rc"`;

/** What the shim leaves with when the attempt was not its to begin. */
export const NOT_OURS = 75;
