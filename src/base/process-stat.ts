/** Fields of /proc/PID/stat that identify a process and its owner. */
export type ProcessStat = {
  pid: number;
  /** The name of the command, which Linux cuts to 15 characters. */
  name: string;
  /** One letter; `Z` is a zombie, `X` is dead. */
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Whether the process has a controlling terminal. */
  terminal: boolean;
  startTime: string;
  /**
   * Address of the environment in memory, which each execve chooses at random: it tells two programs with the same pid apart. '0'
   * where it may not be read, as of another user's process; empty where there is no /proc.
   */
  image: string;
};

/** The fields after the name: state, ppid, pgrp, session, tty_nr; then fields 22 (starttime) and 50 (env_start). */
const statFields = /^(\S) (\d+) (\d+) (\d+) (-?\d+) (?:\S+ ){14}(\d+)(?: (?:\S+ ){27}(\d+))?/;

/** The command name may hold spaces and parentheses, so the fields are counted from the last `)`. */
export function parseStat(text: string): ProcessStat | null {
  const end = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = statFields.exec(text.slice(end + 2));
  if (end < 0 || !(pid > 0) || fields === null) return null;
  const [, state, parent, group, session, terminal, startTime, image] = fields;
  const name = text.slice(text.indexOf('(') + 1, end);
  const ids = { pid, name, state: state!, parent: Number(parent), group: Number(group), session: Number(session) };
  return { ...ids, terminal: terminal !== '0', startTime: startTime!, image: image ?? '0' };
}

/** Whether a process has ended. A zombie has: it writes nothing any more. */
export function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
